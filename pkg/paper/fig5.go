package paper

import "github.com/revgnn/revgnn/pkg/report"

// noise is the smallest change that figure 5 shows; below are rounding errors of single precision.
const noise = 1e-9

// convergence makes figure 5: the mean absolute change of the iterate in each iteration, over the layers, of the runs
// of table 4.
func convergence(v *View) *Document {
	p := published[InversionErrors]("table4")
	d := &Document{}
	d.note("The paper: %s", statement(5).Says)
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
