package paper

import (
	"fmt"
	"math"

	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/results"
	"github.com/revgnn/revgnn/pkg/train"
)

// statistics is table 5.
func statistics(v *View) *Document {
	p := published[DatasetStatistics]("table5")
	t := &report.Table{ID: "table5", Title: v.title("Statistics of the datasets"), Corner: "Dataset"}
	for _, name := range []string{"nodes", "edges", "classes", "average degree", "edge homophily", "adjusted homophily"} {
		t.Columns = append(t.Columns, report.Column{Group: name, Name: "ours"}, report.Column{Group: name, Name: "paper"})
	}
	d := &Document{Tables: []*report.Table{t}}
	equal, here := 0, 0
	for _, row := range p.Rows {
		a := ask[metrics.Stats](v, whole(results.Measure, row.Dataset, train.Config{}))
		o := a.Outcome
		r := report.Row{Label: row.Dataset}
		same := true
		for k, pair := range [][2]float64{
			{float64(o.Nodes), float64(row.Nodes)}, {float64(o.Edges), float64(row.Edges)}, {float64(o.Classes), float64(row.Classes)},
			{o.AverageDegree, row.AverageDegree}, {o.EdgeHomophily, row.EdgeHomophily}, {o.AdjustedHomophily, row.AdjustedHomophily},
		} {
			show := func(x float64) report.Cell {
				if k < 3 {
					return report.Count(int(x))
				}
				return report.Number(x, 2)
			}
			ours := report.Missing(a.Why)
			if a.ok() {
				ours = show(pair[0])
				// Half a unit of the last decimal, and a little: some ratios of whole numbers end exactly there.
				same = same && math.Abs(pair[0]-pair[1]) <= 0.005001
			}
			r.Cells = append(r.Cells, ours, show(pair[1]).Published())
		}
		t.Rows = append(t.Rows, r)
		switch {
		case !a.ok():
		case same:
			here, equal = here+1, equal+1
		default:
			here++
			d.note("%s differs from the paper.", row.Dataset)
		}
	}
	d.note("%d of the %d datasets at hand have the paper's statistics, to its two decimals. Edges are undirected, without self loops and duplicates.", equal, here)
	if missing := len(p.Rows) - here; missing > 0 {
		d.note("%s.", fmt.Sprintf("%s of the paper's %d not measured", count(missing, "dataset"), len(p.Rows)))
	}
	return d
}
