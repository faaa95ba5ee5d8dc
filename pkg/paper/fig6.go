package paper

import (
	"fmt"

	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/results"
	"github.com/revgnn/revgnn/pkg/train"
)

// RunTime is what figure 6 times: a model of Forward forward layers on a dataset, at the reverse depths of the profile.
type RunTime struct {
	Dataset, Model string
	Forward        int
}

// runTime is figure 6: seconds per epoch over reverse layers.
func runTime(v *View) *Document {
	d := &Document{}
	d.note("The paper: %s", claim(6).Says)
	var series []report.Series
	for _, r := range v.Profile.RunTimes {
		s := report.Series{Style: report.Points, Name: fmt.Sprintf("%s (%d), %s", r.Model, r.Forward, r.Dataset)}
		why := ""
		for _, depth := range v.Profile.RunTimeDepths {
			c := train.Default(r.Model)
			c.Forward, c.Reverse, c.Hidden, c.MaxIterations, c.Epochs = r.Forward, depth, v.Profile.InversionHidden, 10, 5
			var a Answer[Timed]
			v.within("fig6 "+s.Name, func() { a = ask[Timed](v, whole(results.Bench, r.Dataset, c)) })
			if !a.ok() {
				why = a.Why
				continue
			}
			s.X, s.Y = append(s.X, float64(depth)), append(s.Y, a.Outcome.EpochSeconds)
		}
		if why != "" {
			d.note("%s: %s.", s.Name, why)
		}
		if len(s.X) == 0 {
			continue
		}
		series = append(series, s)
		if f, err := report.FitLine(s.X, milliseconds(s.Y)); err == nil && len(s.X) > 2 {
			d.note("%s: %s.", s.Name, f.Text("ms per reverse layer"))
			f.Slope, f.Intercept = f.Slope/1e3, f.Intercept/1e3
			series = append(series, f.Series(s.Name+", line", s.Name))
		}
	}
	if len(series) > 0 {
		d.Figures = append(d.Figures, report.Curves("fig6", v.title("Seconds per epoch over reverse layers"), "reverse layers", "seconds per epoch", series))
	}
	d.note("A training step (forwards, backwards, Adam) without evaluation, median of four after a first; hidden width %d, the number of forward layers in brackets. Every step starts from the parameters that training starts from, where solves are easiest.", v.Profile.InversionHidden)
	return d
}

func milliseconds(seconds []float64) []float64 {
	out := make([]float64, len(seconds))
	for i, s := range seconds {
		out[i] = 1e3 * s
	}
	return out
}
