package paper

import (
	"fmt"

	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// runTime makes figure 6: seconds per epoch over the number of reverse layers.
func runTime(v *View) *Document {
	d := &Document{}
	p := v.Profile.RunTime
	var series []report.Series
	for _, curve := range p.Curves {
		s, why := v.runTimes(curve)
		if why != "" {
			d.note("%s: %s.", s.Name, why)
		}
		if len(s.X) == 0 {
			continue
		}
		series = append(series, s)
		if f, err := report.FitLine(s.X, s.Y); err == nil && len(s.X) > 2 {
			series = append(series, f.Series(s.Name+", line", s.Name))
		}
	}
	if len(series) > 0 {
		d.Figures = append(d.Figures, report.Curves("fig6", v.title("Seconds per epoch over reverse layers"),
			"reverse layers", "seconds per epoch", series))
	}
	d.note("%s", p.Note)
	return d
}

// runTimes is one curve of figure 6; why says which benchmarks are missing.
func (v *View) runTimes(curve RunTimeCurve) (s report.Series, why string) {
	s = report.Series{Style: report.Points, Name: fmt.Sprintf("%s (%d), %s", titleOf(curve.Model.Model),
		curve.Model.Forward, curve.Dataset)}
	for _, depth := range v.Profile.RunTime.Reverse {
		c := curve.Model.Config
		c.Reverse = depth
		a := v.timed("fig6 "+s.Name, curve.Dataset, c)
		if !a.OK() {
			why = a.Why
			continue
		}
		s.X, s.Y = append(s.X, float64(depth)), append(s.Y, a.Outcome.EpochSeconds)
	}
	return s, why
}

// timed asks for a benchmark. Those of a group run on the same machine, since they are compared.
func (v *View) timed(group, dataset string, c train.Config) (a runs.Answer[runs.Timed]) {
	t := runs.Whole(runs.Bench, dataset, c)
	v.Within(group, func() { a = runs.Ask[runs.Timed](v.View, t) })
	return a
}
