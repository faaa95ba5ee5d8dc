package paper

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/results"
)

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
