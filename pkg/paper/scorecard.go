package paper

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/runs"
)

// Verdict says whether our runs reproduce what a claim states.
type Verdict string

// Weaker mostly means that a difference has the direction that the paper states, but is too small or not significant;
// for a cell of a table, that our mean is one to two published standard deviations away. The groups in
// data/paper/claims.json explain their verdicts.
const (
	Reproduced    Verdict = "reproduced"
	Weaker        Verdict = "weaker"
	NotReproduced Verdict = "not reproduced"
	NotRun        Verdict = "not run"
)

// Verdicts lists all verdicts, the best one first.
var Verdicts = []Verdict{Reproduced, Weaker, NotReproduced, NotRun}

// The degree of a cell: how far our mean is from the published one, in published standard deviations (std).
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
	// What the case is about; Aspect is anything else, such as "16 layers".
	Model   string  `json:"model,omitempty"`
	Dataset string  `json:"dataset,omitempty"`
	Aspect  string  `json:"aspect,omitempty"`
	Verdict Verdict `json:"verdict"`
	// Degree, for a cell of a table, is the distance of our mean from the published mean, such as [WithinOne].
	Degree string `json:"degree,omitempty"`
	// Numbers is a sentence with our number, the published one, and how they were compared, or why there is none.
	Numbers string `json:"numbers"`
	// The numbers compared, and the p-value of a test; nil where there is none.
	Ours  *float64 `json:"ours,omitempty"`
	Paper *float64 `json:"paper,omitempty"`
	P     *float64 `json:"p,omitempty"`
	// Splits is the smallest number of splits that the models were trained on (for a difference: both), Seeds the
	// smallest number of seeds on a split; 0 if the runs are not trainings.
	Splits int `json:"splits,omitempty"`
	Seeds  int `json:"seeds,omitempty"`
	// Records are the IDs of the runs behind the verdict, with those by which settings were chosen.
	Records []string `json:"records"`
	// Shown is the item whose page shows these runs, such as "fig2".
	Shown string `json:"shown"`

	runs []*runs.Record
}

// Scorecard has all cases of all claims with their verdicts, for one profile.
type Scorecard struct {
	Profile string `json:"profile"`
	// About describes the profile, whose settings may differ from the paper's.
	About  string          `json:"about"`
	Counts map[Verdict]int `json:"counts"`
	// Groups is nil if the claims were chosen ([Scorecard.Choose]).
	Groups []GroupScore `json:"groups,omitempty"`
	Claims []Judgement  `json:"claims"`
}

// GroupScore counts the verdicts of a group; Degrees, for cells, how far our means are from the published ones.
type GroupScore struct {
	ClaimGroup
	Counts  map[Verdict]int `json:"counts"`
	Degrees map[string]int  `json:"degrees,omitempty"`
}

// claimCase is one case of a claim: what it is about, and a function that asks for its runs and judges them.
type claimCase struct {
	model, dataset, aspect string
	theirs                 values // published numbers
	judge                  func() finding
}

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

// notRun is the finding of a case whose runs are missing or too few.
func notRun(why string) finding {
	return found(NotRun, math.NaN(), math.NaN(), values{"why": strings.TrimPrefix(why, "not run: ")})
}

// noNumbers is the finding of a case without a number of ours: NotReproduced if a run diverged ([failedRuns]).
func noNumbers(why string, paper float64) finding {
	if strings.HasPrefix(why, failedRuns) {
		return found(NotReproduced, math.NaN(), paper, values{"why": why})
	}
	return notRun(why)
}

// withoutFailed names trainings that diverged and that the mean leaves out: the verdict is then Weaker at best.
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

// Judge makes the scorecard from recorded runs. It makes no runs.
func Judge(r *runs.Runner, p Profile) (*Scorecard, error) {
	v, err := r.View()
	if err != nil {
		return nil, err
	}
	return judge(&View{v, p}), nil
}

// Choose returns the cases whose IDs begin with one of the texts; all if there are no texts.
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

func judge(v *View) *Scorecard {
	all := paperClaims()
	s := &Scorecard{Profile: v.Profile.Name, About: v.Profile.About, Counts: map[Verdict]int{}}
	for _, g := range all.Groups {
		score := GroupScore{ClaimGroup: g, Counts: map[Verdict]int{}, Degrees: map[string]int{}}
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

func (g *GroupScore) count(j Judgement) {
	g.Counts[j.Verdict]++
	if j.Degree != "" {
		g.Degrees[j.Degree]++
	}
}

// id is the ID of a case, such as "table2/gcn/minesweeper".
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

// judged tells whether there were runs enough for a number of ours, or even for a verdict.
func (j Judgement) judged() bool { return j.Verdict != NotRun || j.Ours != nil }

// cell tells whether the claim is about a cell of table 2, 3 or 6. (Claims about table 5 name no model.)
func (j Judgement) cell() bool {
	return j.Model != "" && strings.HasPrefix(j.Shown, "table") && strings.HasPrefix(j.ID, j.Shown+"/")
}

// trainings is a text such as "3 splits × 1 seed"; least and most are numbers of seeds on a split.
func trainings(splits, least, most int) string {
	text := count(splits, "split") + " × " + count(most, "seed")
	if least < most {
		text = fmt.Sprintf("%s × %d to %d seeds", count(splits, "split"), least, most)
	}
	return text
}

// seeds looks at the successful trainings on the given splits (nil: all), for each model and dataset, and returns the
// smallest number of splits, and the smallest and largest number of seeds on a split.
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

// number returns nil for what JSON cannot hold.
func number(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// Characters in a line of the terminal, and in its first column.
const (
	textWidth    = 116
	verdictWidth = 16
)

// Text writes the scorecard for a terminal: the counts, then the claims by group. Claims that were not run are counted
// by reason. Of chosen claims it writes only these, with the IDs of their runs.
func (s *Scorecard) Text(w io.Writer) {
	if s.Groups == nil {
		s.detail(w)
		return
	}
	fmt.Fprintf(w, "The paper's claims at the profile %s.\n", s.Profile)
	wrapped(w, "", s.About+" Verdicts are of these settings, which need not be the paper's.")
	fmt.Fprintf(w, "\n%-64s%12s%8s%16s%10s\n", "", Reproduced, Weaker, NotReproduced, NotRun)
	line := func(title string, n map[Verdict]int) {
		fmt.Fprintf(w, "%-64s%12d%8d%16d%10d\n", title, n[Reproduced], n[Weaker], n[NotReproduced], n[NotRun])
	}
	for _, g := range s.Groups {
		line(g.Title, g.Counts)
		if len(g.Degrees) > 0 {
			fmt.Fprintf(w, "  %s\n", g.apart())
		}
	}
	line("All", s.Counts)
	for _, g := range s.Groups {
		fmt.Fprintf(w, "\n%s\n", g.Title)
		wrapped(w, "  ", g.About)
		why := map[string]int{}
		for _, j := range s.Claims {
			switch {
			case j.Group != g.Name:
			case j.judged():
				j.text(w)
			default:
				why[j.Numbers]++
			}
		}
		for _, reason := range slices.Sorted(maps.Keys(why)) {
			row(w, string(NotRun), fmt.Sprintf("%s: %s", count(why[reason], "claim"), reason))
		}
	}
	fmt.Fprintf(w, "\nThe runs behind a claim: revgnn claims ID, with an ID from above or the beginning of some.\n")
}

func (g GroupScore) apart() string {
	var parts []string
	for _, d := range []string{WithinOne, WithinTwo, Below, Above} {
		parts = append(parts, fmt.Sprintf("%s: %d", d, g.Degrees[d]))
	}
	return strings.Join(parts, ", ")
}

func (j Judgement) text(w io.Writer) {
	if j.Degree != "" {
		row(w, j.Degree, j.ID+": "+j.Numbers)
		return
	}
	row(w, string(j.Verdict), j.ID+": "+j.Says)
	row(w, "", j.Numbers)
}

func (s *Scorecard) detail(w io.Writer) {
	fmt.Fprintf(w, "At the profile %s:\n", s.Profile)
	for _, j := range s.Claims {
		fmt.Fprintln(w)
		row(w, cmp.Or(j.Degree, string(j.Verdict)), fmt.Sprintf("%s (%s): %s", j.ID, j.Where, j.Says))
		row(w, "", j.Numbers)
		if len(j.Records) > 0 {
			row(w, "", count(len(j.Records), "run")+": "+strings.Join(j.Records, " "))
		}
	}
}

// on returns the sentences for [Document.Verdicts] of an item, and how these verdicts are made.
func (s *Scorecard) on(item string) (all []string) {
	counted := 0 // cells, and numbers of table 5: the table shows them one by one
	score := GroupScore{Counts: map[Verdict]int{}, Degrees: map[string]int{}}
	absent := map[string]int{} // for each reason why claims were not run, their number
	groups := map[string]bool{}
	for _, j := range s.Claims {
		if j.Shown != item {
			continue
		}
		groups[j.Group] = true
		switch {
		case j.cell(), item == "table5" && j.Verdict == Reproduced:
			score.count(j)
			counted++
		case j.judged():
			verdict := string(j.Verdict)
			if j.Verdict == NotRun {
				verdict = "not decided" // there are runs, but too few
			}
			all = append(all, fmt.Sprintf("%s: %s Here: %s", capital(verdict), j.Says, j.Numbers))
		default:
			absent[j.Numbers]++
		}
	}
	for _, why := range slices.Sorted(maps.Keys(absent)) {
		all = append(all, fmt.Sprintf("Not run: %s: %s", count(absent[why], "claim"), why))
	}
	switch {
	case len(score.Degrees) > 0:
		all = append(all, fmt.Sprintf("Our means beside the %s published: %s; not run: %d.", count(counted, "mean"),
			score.apart(), score.Counts[NotRun]))
	case counted > 0:
		all = append(all, fmt.Sprintf("Reproduced: %s of %s in the table.", count(score.Counts[Reproduced], "row"),
			count(counted, "row")))
	}
	for _, g := range s.Groups {
		if groups[g.Name] {
			all = append(all, g.About)
		}
	}
	return all
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// row writes two columns, the second broken into lines.
func row(w io.Writer, head, text string) {
	for i, line := range report.Lines(text, textWidth-verdictWidth-2) {
		if i > 0 {
			head = ""
		}
		fmt.Fprintf(w, "  %-*s%s\n", verdictWidth, head, line)
	}
}

func wrapped(w io.Writer, indent, text string) {
	for _, line := range report.Lines(text, textWidth-len(indent)) {
		fmt.Fprintf(w, "%s%s\n", indent, line)
	}
}

// Markdown returns the scorecard as a small table in Markdown.
func (s *Scorecard) Markdown() string {
	var b strings.Builder
	wrapped(&b, "", s.About+" Verdicts are of these settings, which need not be the paper's.")
	fmt.Fprintf(&b, "\n| at the profile `%s` | %s | %s | %s | %s |\n|---|---|---|---|---|\n", s.Profile, Reproduced,
		Weaker, NotReproduced, NotRun)
	line := func(title string, n map[Verdict]int) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", title, n[Reproduced], n[Weaker], n[NotReproduced], n[NotRun])
	}
	for _, g := range s.Groups {
		title := g.Title
		if len(g.Degrees) > 0 {
			title += fmt.Sprintf(" (not reproduced: %d below, %d above)", g.Degrees[Below], g.Degrees[Above])
		}
		line(title, g.Counts)
	}
	line("**all**", s.Counts)
	return b.String()
}
