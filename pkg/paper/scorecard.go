package paper

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/experiment"
	"github.com/revgnn/revgnn/pkg/results"
)

// Verdict is the result of checking a claim against runs.
type Verdict string

// The verdicts. Weaker means, for a claim, that the direction is as the paper says, but not the size or the
// significance. For a cell of a table it means that our mean is beyond one published standard deviation, but within
// two. The limits are those of the claim's check; the text of the claim's group explains them.
const (
	Reproduced    Verdict = "reproduced"
	Weaker        Verdict = "weaker"
	NotReproduced Verdict = "not reproduced"
	NotRun        Verdict = "not run"
)

// Verdicts lists all verdicts, the best first.
var Verdicts = []Verdict{Reproduced, Weaker, NotReproduced, NotRun}

// Degrees say, for a cell of a table, how far our mean is from the paper's.
const (
	WithinOne = "within one std"
	WithinTwo = "within two std"
	Below     = "below"
	Above     = "above"
)

// Judgement is one case of a claim, with its verdict.
type Judgement struct {
	ID    string `json:"id"`
	Group string `json:"group"`
	Where string `json:"where"`
	Says  string `json:"says"`
	// Model, Dataset and Aspect are those of the case; empty where it has none.
	Model   string  `json:"model,omitempty"`
	Dataset string  `json:"dataset,omitempty"`
	Aspect  string  `json:"aspect,omitempty"`
	Verdict Verdict `json:"verdict"`
	// Degree is set for cells only.
	Degree string `json:"degree,omitempty"`
	// Numbers is a sentence: our number, the paper's, and how they were compared; or why there is no verdict.
	Numbers string `json:"numbers"`
	// Ours and Paper are the numbers compared, and P is the p-value of a test; nil where there is none.
	Ours  *float64 `json:"ours,omitempty"`
	Paper *float64 `json:"paper,omitempty"`
	P     *float64 `json:"p,omitempty"`
	// Splits is the number of splits trained on, and Seeds the smallest number of seeds on any of them; both 0 without
	// trainings.
	Splits int `json:"splits,omitempty"`
	Seeds  int `json:"seeds,omitempty"`
	// Records are the IDs of the runs behind the verdict, including the runs by which settings were chosen.
	Records []string `json:"records"`
	// Shown is the item whose page shows these runs.
	Shown string `json:"shown"`

	runs []*results.Record
}

// Scorecard has all claims with their verdicts, for one profile.
type Scorecard struct {
	Profile string `json:"profile"`
	// About describes the profile, since its settings need not be the paper's.
	About  string          `json:"about"`
	Counts map[Verdict]int `json:"counts"`
	// Groups are the groups of claims; nil if the scorecard has only chosen claims (see [Scorecard.Choose]).
	Groups []GroupScore `json:"groups,omitempty"`
	Claims []Judgement  `json:"claims"`
}

// GroupScore counts the verdicts of a group.
type GroupScore struct {
	ClaimGroup
	Counts map[Verdict]int `json:"counts"`
	// Degrees counts the degrees of cells; nil if the group has no cells.
	Degrees map[string]int `json:"degrees,omitempty"`
}

// claimCase is one case of a claim.
type claimCase struct {
	model, dataset, aspect string
	// theirs is the paper's number as text.
	theirs string
	// judge asks for the runs and decides.
	judge func() finding
}

// finding is the result of judging a case.
type finding struct {
	verdict        Verdict
	degree         string
	numbers        string
	ours, paper, p float64 // NaN where there is none
}

// found makes a finding. format and args make its sentence.
func found(verdict Verdict, ours, paper float64, format string, args ...any) finding {
	return finding{verdict: verdict, ours: ours, paper: paper, p: math.NaN(), numbers: fmt.Sprintf(format, args...)}
}

// notRun is the finding of a case that cannot be judged, for example because runs are missing or too few; why is the
// reason.
func notRun(why string) finding {
	return found(NotRun, math.NaN(), math.NaN(), "%s", strings.TrimPrefix(why, "not run: "))
}

// limited is the verdict on a number that ought to be small: Reproduced up to the limit reproduced, Weaker up to the
// limit weaker, and else NotReproduced.
func limited(x, reproduced, weaker float64) Verdict {
	switch {
	case x <= reproduced:
		return Reproduced
	case x <= weaker:
		return Weaker
	}
	return NotReproduced
}

// Judge makes the scorecard from the recorded runs. It makes no runs.
func Judge(r *experiment.Runner, p Profile) (*Scorecard, error) {
	v, err := r.View()
	if err != nil {
		return nil, err
	}
	return judge(&View{v, p}), nil
}

// Choose returns the scorecard of the claims whose IDs begin with one of the given texts. Without texts it returns the
// whole scorecard. A text that no ID begins with is an error.
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

// judge gives every case of every claim its verdict.
func judge(v *View) *Scorecard {
	all := paperClaims()
	s := &Scorecard{Profile: v.Profile.Name, About: v.Profile.About, Counts: map[Verdict]int{}}
	for _, g := range all.Groups {
		score := GroupScore{ClaimGroup: g, Counts: map[Verdict]int{}}
		for _, c := range all.Claims {
			if c.Group != g.Name {
				continue
			}
			for _, one := range c.check.cases(v) {
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

// count adds a judgement to the counts.
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

// id is the ID of one case of the claim.
func (c Claim) id(one claimCase) string {
	id := c.ID
	for _, part := range []string{one.model, one.dataset, one.aspect} {
		if part != "" {
			id += "/" + strings.NewReplacer(" ", "-", "|", "").Replace(part)
		}
	}
	return id
}

// decide judges a case, and lists the runs behind the verdict.
func (v *View) decide(c Claim, one claimCase) Judgement {
	var f finding
	runs := v.Used(func() { f = one.judge() })
	j := Judgement{ID: c.id(one), Group: c.Group, Where: c.Where, Shown: c.Shown, Model: one.model, Dataset: one.dataset,
		Aspect: one.aspect, Verdict: f.verdict, Degree: f.degree, Numbers: f.numbers, Ours: number(f.ours),
		Paper: number(f.paper), P: number(f.p), Records: []string{}, runs: runs}
	j.Says = strings.NewReplacer("{model}", titleOf(one.model), "{dataset}", one.dataset, "{aspect}", one.aspect,
		"{theirs}", one.theirs).Replace(c.Says)
	for _, r := range runs {
		j.Records = append(j.Records, r.ID)
	}
	splits, least, most := seeds(runs)
	if j.Splits, j.Seeds = splits, least; splits > 0 && j.Verdict != NotRun {
		j.Numbers += "; " + trainings(splits, least, most)
	}
	j.Numbers += "."
	return j
}

// trainings says on how many splits and seeds a verdict is based.
func trainings(splits, least, most int) string {
	text := count(splits, "split") + " × " + count(most, "seed")
	if least < most {
		text = fmt.Sprintf("%s × %d to %d seeds", count(splits, "split"), least, most)
	}
	return text
}

// seeds returns the number of splits that runs were trained on, and the smallest and largest number of seeds on one
// split.
func seeds(runs []*results.Record) (splits, least, most int) {
	on := map[int][]uint64{}
	for _, r := range runs {
		if r.Kind == results.Train && !slices.Contains(on[r.Split], r.Seed) {
			on[r.Split] = append(on[r.Split], r.Seed)
		}
	}
	for _, s := range on {
		if most = max(most, len(s)); least == 0 || len(s) < least {
			least = len(s)
		}
	}
	return len(on), least, most
}

// number is a pointer to x, or nil if x is not finite, since JSON has only finite numbers.
func number(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
