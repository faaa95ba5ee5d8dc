package paper

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/runs"
)

// Verdict says whether our runs reproduce what a claim states.
type Verdict string

// The verdicts. For most claims, Weaker means that a difference or a change has the direction that the paper states,
// but is too small or not significant. For a cell of a table, Weaker means that our mean is more than one published
// standard deviation away from the published mean, but not more than two. Each check has its own limits. For each group
// of claims, a text in data/paper/claims.json explains what the verdicts mean.
const (
	Reproduced    Verdict = "reproduced"
	Weaker        Verdict = "weaker"
	NotReproduced Verdict = "not reproduced"
	NotRun        Verdict = "not run"
)

// Verdicts lists all verdicts, the best one first.
var Verdicts = []Verdict{Reproduced, Weaker, NotReproduced, NotRun}

// The degree of a cell of a table says how far our mean is from the published mean, in published standard deviations
// (std). If our mean is more than two published standard deviations away, the degree is Below or Above.
const (
	WithinOne = "within one std"
	WithinTwo = "within two std"
	Below     = "below"
	Above     = "above"
)

// Judgement is a case of a claim with its verdict.
type Judgement struct {
	ID    string `json:"id"`
	Group string `json:"group"`
	Where string `json:"where"`
	Says  string `json:"says"`
	// Model, Dataset and Aspect say what the case is about. Aspect is for anything else, such as "16 layers". A field
	// is empty if it does not apply to the case.
	Model   string  `json:"model,omitempty"`
	Dataset string  `json:"dataset,omitempty"`
	Aspect  string  `json:"aspect,omitempty"`
	Verdict Verdict `json:"verdict"`
	// Degree says how far our mean is from the published mean, such as [WithinOne], if the case is about a cell of a
	// table. For all other cases it is empty.
	Degree string `json:"degree,omitempty"`
	// Numbers is a sentence with our number, the published number, and how they were compared. If the verdict is
	// [NotRun], the sentence says why.
	Numbers string `json:"numbers"`
	// Ours and Paper are the numbers that were compared. P is the p-value of a statistical test. A field is nil if
	// there is no such number.
	Ours  *float64 `json:"ours,omitempty"`
	Paper *float64 `json:"paper,omitempty"`
	P     *float64 `json:"p,omitempty"`
	// Splits is the number of splits that models were trained on; if the models differ in this number, it is the
	// smallest. For a difference between two models, it is the number of splits that both were trained on. On each
	// split there may be several trainings with different seeds. Seeds is the smallest number of seeds on any split.
	// Both fields are 0 if the runs are not trainings.
	Splits int `json:"splits,omitempty"`
	Seeds  int `json:"seeds,omitempty"`
	// Records are the IDs of the runs from which the verdict follows, including the runs by which settings were chosen.
	Records []string `json:"records"`
	// Shown is the name of an item, such as "fig2". The page of this item shows the runs from which the verdict
	// follows.
	Shown string `json:"shown"`

	runs []*runs.Record
}

// Scorecard has all cases of all claims with their verdicts, for one profile.
type Scorecard struct {
	Profile string `json:"profile"`
	// About describes the profile. The settings of the profile may differ from those of the paper.
	About  string          `json:"about"`
	Counts map[Verdict]int `json:"counts"`
	// Groups counts the verdicts of each group of claims. It is nil if the scorecard has only claims that were chosen
	// by [Scorecard.Choose].
	Groups []GroupScore `json:"groups,omitempty"`
	Claims []Judgement  `json:"claims"`
}

// GroupScore counts the verdicts of one group of claims.
type GroupScore struct {
	ClaimGroup
	Counts map[Verdict]int `json:"counts"`
	// Degrees has the number of cells for each degree, such as [WithinOne]. (A degree says how far our mean is from the
	// published mean of a cell.) Degrees is nil if the group is not about cells of tables.
	Degrees map[string]int `json:"degrees,omitempty"`
}

// claimCase is one case of a claim. The fields model, dataset and aspect say what the case is about, as in [Judgement].
type claimCase struct {
	model, dataset, aspect string
	theirs                 values // published numbers
	// judge asks for the outcomes of the runs that the case needs, and decides on the verdict.
	judge func() finding
}

// finding is the result of judging a case, as in [Judgement].
type finding struct {
	verdict        Verdict
	degree         string
	ours, paper, p float64 // NaN if there is no such number
	splits         []int   // the splits that count, for a mean or for a difference between two models; nil if all do
	say            values  // for [Claim].Numbers; "why" is the reason if there are no numbers
}

// found makes a finding without a p-value.
func found(verdict Verdict, ours, paper float64, say values) finding {
	return finding{verdict: verdict, ours: ours, paper: paper, p: math.NaN(), say: say}
}

// notRun makes the finding of a case that cannot be judged, for example because runs are missing or too few.
func notRun(why string) finding {
	return found(NotRun, math.NaN(), math.NaN(), values{"why": strings.TrimPrefix(why, "not run: ")})
}

// noNumbers makes the finding of a case without a number of ours: NotReproduced if a run of the model diverged (see
// [failedRuns]), otherwise NotRun.
func noNumbers(why string, paper float64) finding {
	if strings.HasPrefix(why, failedRuns) {
		return found(NotReproduced, math.NaN(), paper, values{"why": why})
	}
	return notRun(why)
}

// withoutFailed says that the mean leaves out trainings that diverged. If there are any, the verdict is Weaker at best.
func (f finding) withoutFailed(bad []string) finding {
	f.say.list("diverged", bad)
	if len(bad) > 0 && f.verdict == Reproduced {
		f.verdict = Weaker
	}
	return f
}

// graded is Reproduced if the strict condition holds, Weaker if the loose one does, and NotReproduced otherwise.
func graded(strict, loose bool) Verdict {
	switch {
	case strict:
		return Reproduced
	case loose:
		return Weaker
	}
	return NotReproduced
}

// limited grades a number that ought to be small by two limits.
func limited(x, reproduced, weaker float64) Verdict { return graded(x <= reproduced, x <= weaker) }

// Judge makes the scorecard from the recorded runs. It makes no runs.
func Judge(r *runs.Runner, p Profile) (*Scorecard, error) {
	v, err := r.View()
	if err != nil {
		return nil, err
	}
	return judge(&View{v, p}), nil
}

// Choose returns a scorecard of those cases whose IDs begin with one of the given texts. Without texts it returns the
// whole scorecard. If no ID begins with a given text, Choose returns an error.
func (s *Scorecard) Choose(beginnings []string) (*Scorecard, error) {
	if len(beginnings) == 0 {
		return s, nil
	}
	chosen := &Scorecard{Profile: s.Profile, About: s.About, Counts: map[Verdict]int{}}
	for _, b := range beginnings {
		if !slices.ContainsFunc(s.Claims, func(j Judgement) bool { return strings.HasPrefix(j.ID, b) }) {
			return nil, fmt.Errorf("no claim has an ID that begins with %q: `revgnn claims` lists them", b)
		}
	}
	for _, j := range s.Claims {
		if slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(j.ID, b) }) {
			chosen.Claims = append(chosen.Claims, j)
			chosen.Counts[j.Verdict]++
		}
	}
	return chosen, nil
}

// judge decides on the verdict of every case of every claim.
func judge(v *View) *Scorecard {
	all := paperClaims()
	s := &Scorecard{Profile: v.Profile.Name, About: v.Profile.About, Counts: map[Verdict]int{}}
	for _, g := range all.Groups {
		score := GroupScore{ClaimGroup: g, Counts: map[Verdict]int{}}
		for _, c := range all.Claims {
			if c.Group != g.Name {
				continue
			}
			for _, one := range c.cases(v) {
				j := v.decide(c, one)
				s.Claims = append(s.Claims, j)
				s.Counts[j.Verdict]++
				score.count(j)
			}
		}
		s.Groups = append(s.Groups, score)
	}
	return s
}

// count adds a judgement to the counts of its group.
func (g *GroupScore) count(j Judgement) {
	g.Counts[j.Verdict]++
	if j.Degree == "" {
		return
	}
	if g.Degrees == nil {
		g.Degrees = map[string]int{}
	}
	g.Degrees[j.Degree]++
}

// id returns the ID of one case of the claim, such as "table2/gcn/minesweeper".
func (c Claim) id(one claimCase) string {
	id := c.ID
	for _, part := range []string{one.model, one.dataset, one.aspect} {
		if part != "" {
			id += "/" + strings.NewReplacer(" ", "-", "|", "").Replace(part)
		}
	}
	return id
}

// decide judges one case of a claim. The returned judgement also lists the runs from which the verdict follows.
func (v *View) decide(c Claim, one claimCase) Judgement {
	var f finding
	used := v.Used(func() { f = one.judge() })
	j := Judgement{ID: c.id(one), Group: c.Group, Where: c.Where, Shown: c.Shown, Model: one.model, Dataset: one.dataset,
		Aspect: one.aspect, Verdict: f.verdict, Degree: f.degree, Ours: number(f.ours),
		Paper: number(f.paper), P: number(f.p), Records: []string{}, runs: used}
	all := maps.Clone(c.With)
	maps.Copy(all, values{"model": titleOf(one.model), "dataset": one.dataset, "aspect": one.aspect})
	maps.Copy(all, one.theirs)
	j.Says = clauses{c.Says}.fill(c.Each, all)
	maps.Copy(all, f.say)
	j.Numbers = append(clauses{"{why}"}, c.Numbers...).fill(c.Each, all)
	for _, r := range used {
		j.Records = append(j.Records, r.ID)
	}
	splits, least, most := seeds(used, f.splits)
	if len(f.splits) > 0 {
		splits = len(f.splits)
	}
	if j.Splits, j.Seeds = splits, least; splits > 0 && j.judged() {
		j.Numbers += "; " + trainings(splits, least, most)
	}
	j.Numbers += "."
	return j
}

// judged tells whether there were enough runs to compute a number of ours, or even to decide on the claim.
func (j Judgement) judged() bool { return j.Verdict != NotRun || j.Ours != nil }

// cell tells whether the claim is about a cell of table 2, 3 or 6, which has the result of a model. The ID of such a
// claim begins with the name of the table, which is in the field Shown. (The claims about table 5 name no model.)
func (j Judgement) cell() bool {
	return j.Model != "" && strings.HasPrefix(j.Shown, "table") && strings.HasPrefix(j.ID, j.Shown+"/")
}

// trainings returns a text such as "3 splits × 1 seed": the number of splits, and the number of seeds on each split.
// The arguments least and most are the smallest and the largest number of seeds on any split.
func trainings(splits, least, most int) string {
	text := count(splits, "split") + " × " + count(most, "seed")
	if least < most {
		text = fmt.Sprintf("%s × %d to %d seeds", count(splits, "split"), least, most)
	}
	return text
}

// seeds looks at the trainings among the given runs that went well, on the given splits, or on all splits if there are
// none. For each model on each dataset, it counts the splits, and the different seeds on each split. It returns the
// smallest number of splits, and the smallest and the largest number of seeds.
func seeds(used []*runs.Record, on []int) (splits, least, most int) {
	type cell struct{ model, dataset string }
	trained := map[cell]map[int]map[uint64]bool{} // for each cell and split, the seeds
	for _, r := range used {
		if r.Kind != runs.Train || r.Status != runs.OK || len(on) > 0 && !slices.Contains(on, r.Split) {
			continue
		}
		c := cell{r.Model, r.Dataset}
		if trained[c] == nil {
			trained[c] = map[int]map[uint64]bool{}
		}
		if trained[c][r.Split] == nil {
			trained[c][r.Split] = map[uint64]bool{}
		}
		trained[c][r.Split][r.Seed] = true
	}
	for _, at := range trained {
		if splits == 0 || len(at) < splits {
			splits = len(at)
		}
		for _, s := range at {
			if most = max(most, len(s)); least == 0 || len(s) < least {
				least = len(s)
			}
		}
	}
	return splits, least, most
}

// number returns a pointer to x. It returns nil if x is not finite, since JSON has only finite numbers.
func number(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
