package paper

import (
	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// inversion asks for one inversion of table 4 and figure 5: as many layers as in the paper, forwards and then
// backwards.
func (v *View) inversion(published *InversionErrors, dataset, model string) (a runs.Answer[train.Inversion]) {
	c := train.Default(model)
	c.Hidden, c.Forward, c.Lipschitz, c.MaxIterations = v.Profile.Inversions.Hidden, published.Depth,
		published.Lipschitz, published.MaxIterations
	if err := c.Validate(); err != nil {
		a.Why = "not run: " + err.Error()
		return a
	}
	return runs.Ask[train.Inversion](v.View, runs.Whole(runs.Invert, dataset, c))
}

// inversionErrors makes table 4.
func inversionErrors(v *View) *Document {
	p := published[InversionErrors]("table4")
	t := &report.Table{ID: "table4",
		Title: v.title("Mean absolute error between the original and the restored inputs"), Corner: "Dataset"}
	for _, m := range p.Models {
		t.Columns = append(t.Columns, beside(titleOf(m), "")...)
	}
	largest, cells := 0.0, 0
	for _, row := range p.Rows {
		r := report.Row{Label: row.Dataset}
		for k, m := range p.Models {
			a := v.inversion(p, row.Dataset, m)
			ours := report.Missing(a.Why)
			if a.OK() {
				ours = report.Scientific(float64(a.Outcome.MeanAbsError), 2)
				largest, cells = max(largest, float64(a.Outcome.MeanAbsError)), cells+1
			}
			r.Cells = append(r.Cells, ours, report.Scientific(row.Errors[k], 2).Published())
		}
		t.Rows = append(t.Rows, r)
	}
	d := &Document{Tables: []*report.Table{t}}
	d.note("%d layers forwards and as many backwards, c = %g, exactly %d iterations each from the right-hand side "+
		"as start (Algorithm 1), hidden width %d.",
		p.Depth, p.Lipschitz, p.MaxIterations, v.Profile.Inversions.Hidden)
	d.note("The weight is drawn at random and scaled to the norm c, the inputs are the encoded features; the paper " +
		"does not say which weights it used.")
	if cells > 0 {
		d.note("The largest of our %d errors is %.2g.", cells, largest)
	}
	return d
}

// noise is the smallest change that figure 5 shows; below are rounding errors of single precision.
const noise = 1e-9

// convergence makes figure 5: the mean absolute change of the iterate in each iteration, over the layers, of the runs
// of table 4.
func convergence(v *View) *Document {
	p := published[InversionErrors]("table4")
	d := &Document{}
	var series []report.Series
	for _, m := range p.Models {
		for _, row := range p.Rows {
			a := v.inversion(p, row.Dataset, m)
			if !a.OK() {
				continue // the verdicts say why
			}
			s := report.Series{Name: titleOf(m) + ", " + row.Dataset}
			for i, r := range a.Outcome.Residual {
				if r >= noise {
					s.X, s.Y = append(s.X, float64(i+1)), append(s.Y, float64(r))
				}
			}
			series = append(series, s)
		}
	}
	if len(series) > 0 {
		d.Figures = append(d.Figures,
			report.Curves("fig5", v.title("Mean absolute difference of consecutive iterates"), "iteration",
				"mean |difference|", series, report.Axes{LogY: true}))
	}
	d.note("Changes below %g are rounding errors, and left out of the figure.", noise)
	d.note("%d reverse layers of width %d, c = %g; see table 4.", p.Depth, v.Profile.Inversions.Hidden, p.Lipschitz)
	return d
}
