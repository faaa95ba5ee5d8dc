package paper

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// depth makes figure 2.
func depth(v *View) *Document {
	d := &Document{}
	says := statement(2)
	for _, curve := range v.Profile.Depth.Curves {
		v.curve(d, curve)
		deepest := 0
		for _, at := range curve.Depths {
			deepest = max(deepest, at.Layers)
		}
		if limit := says.ReverseLimit[curve.Dataset]; limit > 0 {
			d.note("On %s the paper had to stop at %d reverse layers; ours go on to %d, in the same memory.",
				curve.Dataset, limit, deepest)
		}
	}
	d.note("Error bars: the sample standard deviation over splits. %s", v.Profile.Depth.Note)
	return d
}

// curve adds the figure and the table of one dataset.
func (v *View) curve(d *Document, curve DepthCurve) {
	dataset := curve.Dataset
	t := &report.Table{ID: "fig2-" + dataset + "-values",
		Title: v.title(dataset + ": " + unit(dataset) + " by depth"), Corner: "Layers in one direction",
		Columns: []report.Column{{Group: "forward", Name: "validation"}, {Group: "forward", Name: "test"},
			{Group: "forward", Name: "c, lr"},
			{Group: "reverse", Name: "validation"}, {Group: "reverse", Name: "test"},
			{Group: "reverse", Name: "c, lr"}}}
	series := []report.Series{{Name: "forward"}, {Name: "reverse"}}
	for k, at := range curve.Depths {
		row := report.Row{Label: fmt.Sprint(at.Layers)}
		for i, process := range []string{"forward", "reverse"} {
			c, vals, tests, bad, why := v.atDepth(curve, k, process)
			settings := report.Text(fmt.Sprintf("%.3g, %.3g", c.Contraction(), c.LearningRate))
			if why = cmp.Or(why, strings.Join(bad, "; ")); len(tests) == 0 || len(tests)+len(bad) < len(curve.Splits) {
				row.Cells = append(row.Cells, report.Missing(why), report.Missing(why), settings)
				continue
			}
			s := &series[i]
			s.X, s.Y = append(s.X, float64(at.Layers)), append(s.Y, metrics.Mean(tests))
			s.Spread = append(s.Spread, metrics.SampleStd(tests)) // 0 for one split
			test := overSplits(tests)
			if len(bad) > 0 {
				test = test.Below(report.Text("not in the mean: " + strings.Join(bad, "; ")))
			}
			row.Cells = append(row.Cells, overSplits(vals), test, settings)
		}
		t.Rows = append(t.Rows, row)
	}
	series = slices.DeleteFunc(series, func(s report.Series) bool { return len(s.X) == 0 })
	if len(series) > 0 {
		d.Figures = append(d.Figures,
			report.Curves("fig2-"+dataset, v.title(titleOf(curve.Model.Model)+" on "+dataset),
				"layers in one direction, one in the other", "test "+unit(dataset), series, report.Axes{Log2X: true}))
	}
	d.Tables = append(d.Tables, t)
}

// atDepth returns settings and metrics, in percent, at one point of figure 2, where the process has
// curve.Depths[k].Layers layers and the other one. bad tells of diverged trainings, which vals and tests leave out;
// why, of invalid settings or missing runs.
func (v *View) atDepth(curve DepthCurve, k int, process string) (c train.Config, vals, tests []float64, bad []string,
	why string) {

	c, err := curve.at(k)
	if err != nil {
		return c, nil, nil, nil, err.Error()
	}
	if c.Forward, c.Reverse = 1, curve.Depths[k].Layers; process == "forward" {
		c.Forward, c.Reverse = c.Reverse, 1
	}
	for _, split := range curve.Splits {
		a := runs.Ask[runs.Trained](v.View, runs.Training(curve.Dataset, split, c))
		if diverged(a) {
			bad = append(bad, fmt.Sprintf("split %d diverged (%s)", split, a.Why))
			continue
		}
		if !a.OK() {
			why = a.Why
			continue
		}
		tests, vals = append(tests, 100*float64(a.Outcome.Test)), append(vals, 100*float64(a.Outcome.Val))
	}
	return c, vals, tests, bad, why
}
