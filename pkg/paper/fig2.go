package paper

import (
	"fmt"
	"slices"

	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/report"
)

// depth is figure 2: test performance of GCN+ReP over the layers of one direction, with one layer in the other.
func depth(v *View) *Document {
	d := &Document{}
	says := claim(2)
	d.note("The paper: %s", says.Says)
	for _, dataset := range []string{"chameleon-filtered", "minesweeper"} {
		t := &report.Table{ID: "fig2-" + dataset + "-values", Title: v.title(dataset + ": " + unit(dataset) + " by depth"), Corner: "Layers in one direction",
			Columns: []report.Column{{Group: "forward", Name: "validation"}, {Group: "forward", Name: "test"}, {Group: "forward", Name: "c, lr"},
				{Group: "reverse", Name: "validation"}, {Group: "reverse", Name: "test"}, {Group: "reverse", Name: "c, lr"}}}
		series := []report.Series{{Name: "forward"}, {Name: "reverse"}}
		for _, layers := range v.Profile.Depths {
			row := report.Row{Label: fmt.Sprint(layers)}
			for i, at := range [][2]int{{layers, 1}, {1, layers}} {
				c := v.Profile.Depth(dataset, at[0], at[1])
				var tests, vals []float64
				why := ""
				for _, split := range v.Profile.DepthSplits {
					a := ask[Trained](v, training(dataset, split, c))
					if !a.ok() {
						why = a.Why
						continue
					}
					tests, vals = append(tests, 100*float64(a.Outcome.Test)), append(vals, 100*float64(a.Outcome.Val))
				}
				settings := report.Text(fmt.Sprintf("%g, %g", c.Lipschitz, c.LearningRate))
				if why != "" {
					row.Cells = append(row.Cells, report.Missing(why), report.Missing(why), settings)
					continue
				}
				series[i].X, series[i].Y = append(series[i].X, float64(layers)), append(series[i].Y, metrics.Mean(tests))
				row.Cells = append(row.Cells, overSplits(vals), overSplits(tests), settings)
			}
			t.Rows = append(t.Rows, row)
		}
		series = slices.DeleteFunc(series, func(s report.Series) bool { return len(s.X) == 0 })
		if len(series) > 0 {
			d.Figures = append(d.Figures, report.Curves("fig2-"+dataset, v.title("GCN+ReP on "+dataset), "layers in one direction, one in the other", "test "+unit(dataset), series, report.Axes{Log2X: true}))
		}
		d.Tables = append(d.Tables, t)
		if limit := says.ReverseLimit[dataset]; limit > 0 {
			d.note("On %s the paper had to stop at %d reverse layers; ours go on to %d, in the same memory.", dataset, limit, slices.Max(v.Profile.Depths))
		}
	}
	d.note("%s", v.Profile.DepthNote)
	return d
}
