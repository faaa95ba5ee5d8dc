package paper

import (
	"cmp"
	_ "embed"
	"html/template"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/results"
)

//go:embed front.html
var frontHTML string

// frontPage is all claims, tables and figures at a glance.
type frontPage struct {
	Card  *Scorecard
	All   bar
	Tally []int
	Group []frontGroup
	// Cards are those of tables, and those of figures.
	Cards [2][]frontCard
	Runs  []origin
	// Total is the number of runs behind all of it.
	Total int
}

// frontGroup is a group of claims: tables of cells as coloured grids, others as a list.
type frontGroup struct {
	GroupScore
	Bar    bar
	Tally  []int
	Grids  []grid
	Claims []frontClaim
}

// frontClaim is a claim, with the page that shows its runs, if there is one.
type frontClaim struct {
	Judgement
	Page string
}

// Judged are the claims with a verdict, and NotRun the others.
func (g frontGroup) Judged() []frontClaim { return g.claims(false) }
func (g frontGroup) NotRun() []frontClaim { return g.claims(true) }

func (g frontGroup) claims(notRun bool) (out []frontClaim) {
	for _, c := range g.Claims {
		if (c.Verdict == NotRun) == notRun {
			out = append(out, c)
		}
	}
	return out
}

// bar is verdicts as parts of a line.
type bar []barPart

type barPart struct {
	Verdict Verdict
	Count   int
	Percent float64
}

// barOf leaves out verdicts that nothing has.
func barOf(counts map[Verdict]int) (b bar) {
	all := 0
	for _, n := range counts {
		all += n
	}
	for _, v := range Verdicts {
		if n := counts[v]; n > 0 {
			b = append(b, barPart{v, n, 100 * float64(n) / float64(all)})
		}
	}
	return b
}

// tally are the counts in the order of [Verdicts].
func tally(counts map[Verdict]int) (out []int) {
	for _, v := range Verdicts {
		out = append(out, counts[v])
	}
	return out
}

// Class is the verdict as a class of style sheets.
func (v Verdict) Class() string { return strings.ReplaceAll(string(v), " ", "-") }

// front is the page that a reader begins with.
func front(s *Scorecard, documents []*Document) (string, error) {
	page := frontPage{Card: s, All: barOf(s.Counts), Tally: tally(s.Counts)}
	pages, runs := map[string]string{}, map[string]*results.Record{}
	for _, d := range documents {
		pages[d.Name] = d.Name + ".html"
		kind := 0
		if len(d.Figures) > 0 {
			kind = 1
		}
		page.Cards[kind] = append(page.Cards[kind], cardOf(s, d))
		for _, r := range d.Records {
			runs[r.ID] = r
		}
	}
	for _, g := range s.Groups {
		group := frontGroup{GroupScore: g, Bar: barOf(g.Counts), Tally: tally(g.Counts)}
		for _, j := range s.Claims {
			if j.Group == g.Name {
				group.Claims = append(group.Claims, frontClaim{j, pages[j.Shown]})
			}
			for _, r := range j.runs {
				runs[r.ID] = r
			}
		}
		if g.Degrees != nil {
			group.Grids = gridsOf(group.Claims)
		}
		page.Group = append(page.Group, group)
	}
	page.Runs, page.Total = origins(byTime(runs)), len(runs)
	t, err := template.New("front").Parse(frontHTML)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, page)
	return b.String(), err
}

// byTime are runs, the oldest first.
func byTime(runs map[string]*results.Record) (all []*results.Record) {
	for _, r := range runs {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *results.Record) int {
		return cmp.Or(a.Started.Compare(b.Started), strings.Compare(a.ID, b.ID))
	})
	return all
}
