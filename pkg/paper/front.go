package paper

import (
	"cmp"
	_ "embed"
	"fmt"
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

// grid is a table's cells by model and dataset, in their order.
type grid struct {
	Title, Page string
	Columns     []string
	Rows        []gridRow
}

type gridRow struct {
	Label string
	Cells []frontClaim
}

// Class tells the degrees of a cell apart in style sheets.
func (c frontClaim) Class() string {
	switch c.Degree {
	case "":
		return c.Verdict.Class()
	case WithinOne:
		return "one"
	case WithinTwo:
		return "two"
	}
	return c.Degree
}

// Apart is how far ours is from the paper's number, for a cell of a grid.
func (c frontClaim) Apart() string {
	switch {
	case c.Verdict == NotRun:
		return "·"
	case c.Ours == nil || c.Paper == nil:
		return "failed"
	}
	return strings.ReplaceAll(fmt.Sprintf("%+.1f", *c.Ours-*c.Paper), "-", "−")
}

// gridsOf sorts cells into grids, one for each table.
func gridsOf(cells []frontClaim) (all []grid) {
	for _, c := range cells {
		i := slices.IndexFunc(all, func(g grid) bool { return g.Title == c.Where })
		if i < 0 {
			i = len(all)
			all = append(all, grid{Title: c.Where, Page: c.Page})
		}
		all[i].add(c)
	}
	return all
}

// add puts a cell into its row; the first row's make the columns.
func (g *grid) add(c frontClaim) {
	label := titleOf(c.Model)
	i := slices.IndexFunc(g.Rows, func(r gridRow) bool { return r.Label == label })
	if i < 0 {
		i = len(g.Rows)
		g.Rows = append(g.Rows, gridRow{Label: label})
	}
	g.Rows[i].Cells = append(g.Rows[i].Cells, c)
	if i == 0 {
		g.Columns = append(g.Columns, c.Dataset)
	}
}

// frontCard is a table or figure with a small picture, where it has one, and its claims.
type frontCard struct {
	Name, Title, Picture, Alt string
	Bar                       bar
	Runs                      int
	// Files are what its tables and figures can be had as.
	Files []string
}

func cardOf(s *Scorecard, d *Document) frontCard {
	c := frontCard{Name: d.Name, Title: d.Title, Runs: len(d.Records)}
	counts := map[Verdict]int{}
	for _, j := range s.Claims {
		if j.Shown == d.Name {
			counts[j.Verdict]++
		}
	}
	c.Bar = barOf(counts)
	for _, f := range d.Figures {
		c.Files = append(c.Files, f.ID+".svg", f.ID+".png")
	}
	if len(d.Figures) > 0 {
		c.Picture, c.Alt = d.Figures[0].ID+".svg", d.Figures[0].Text()
	}
	for _, t := range d.Tables {
		c.Files = append(c.Files, t.ID+".tex", t.ID+".csv", t.ID+".md")
	}
	return c
}

// origin is who ran what, and when: the runs of one machine and engine.
type origin struct {
	Machine, Engine string
	Runs, Trainings int
	Hours           float64
	Days            string
	Commits         []string
	// Unknown is the number of runs that name no commit.
	Unknown int
}

// origins sorts runs by machine and engine.
func origins(runs []*results.Record) (all []origin) {
	byPlace := map[[2]string]*Document{}
	var places [][2]string
	for _, r := range runs {
		at := [2]string{machineText(r), r.Engine}
		if byPlace[at] == nil {
			byPlace[at], places = &Document{}, append(places, at)
		}
		byPlace[at].Records = append(byPlace[at].Records, r)
	}
	for _, at := range places {
		d := byPlace[at]
		o := origin{Machine: at[0], Engine: at[1], Runs: len(d.Records), Days: d.days()}
		for _, r := range d.Records {
			if o.Hours += r.Seconds / 3600; r.Kind == results.Train {
				o.Trainings++
			}
			if r.Commit == "" {
				o.Unknown++
			} else if !slices.Contains(o.Commits, r.Commit) {
				o.Commits = append(o.Commits, r.Commit)
			}
		}
		all = append(all, o)
	}
	slices.SortStableFunc(all, func(a, b origin) int { return cmp.Compare(b.Runs, a.Runs) })
	return all
}

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
