package paper

import (
	"math"

	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// statistics makes table 5.
func statistics(v *View) *Document {
	p := published[DatasetStatistics]("table5")
	t := &report.Table{ID: "table5", Title: v.title("Statistics of the datasets"), Corner: "Dataset"}
	for _, name := range []string{
		"nodes", "edges", "classes", "average degree", "edge homophily", "adjusted homophily",
	} {
		t.Columns = append(t.Columns, beside(name, "")...)
	}
	d := &Document{Tables: []*report.Table{t}}
	equal, here := 0, 0
	for _, row := range p.Rows {
		task := runs.Whole(runs.Measure, row.Dataset, train.Config{})
		a := runs.Ask[metrics.Stats](v.View, task)
		cells, same := compared(a, row.Stats)
		t.Rows = append(t.Rows, report.Row{Label: row.Dataset, Cells: cells})
		switch {
		case !a.OK():
		case same:
			here, equal = here+1, equal+1
		default:
			here++
			d.note("%s differs from the paper.", row.Dataset)
		}
	}
	d.note("%d of the %d datasets at hand have the paper's statistics, to its two decimals. Edges are undirected, "+
		"without self loops and duplicates.", equal, here)
	if missing := len(p.Rows) - here; missing > 0 {
		d.note("%s of the paper's %d not measured.", count(missing, "dataset"), len(p.Rows))
	}
	return d
}

// compared has our statistics of a dataset beside the published ones, and tells whether they agree to two decimals.
func compared(a runs.Answer[metrics.Stats], paper metrics.Stats) (cells []report.Cell, same bool) {
	same = true
	for k, pair := range [][2]float64{
		{float64(a.Outcome.Nodes), float64(paper.Nodes)},
		{float64(a.Outcome.Edges), float64(paper.Edges)},
		{float64(a.Outcome.Classes), float64(paper.Classes)},
		{a.Outcome.AverageDegree, paper.AverageDegree},
		{a.Outcome.EdgeHomophily, paper.EdgeHomophily},
		{a.Outcome.AdjustedHomophily, paper.AdjustedHomophily},
	} {
		show := func(x float64) report.Cell {
			if k < 3 {
				return report.Count(int(x))
			}
			return report.Number(x, 2)
		}
		ours := report.Missing(a.Why)
		if a.OK() {
			ours = show(pair[0])
			// The paper prints two decimals. The tolerance is half a unit of the second decimal (0.005), and a little
			// more for rounding errors.
			same = same && math.Abs(pair[0]-pair[1]) <= 0.005001
		}
		cells = append(cells, ours, show(pair[1]).Published())
	}
	return cells, same
}
