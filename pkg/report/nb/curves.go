package nb

import (
	"fmt"
	"math"

	"github.com/revgnn/revgnn/pkg/report"
)

// Losses draws the loss on the training nodes over the epochs, with a curve for each run.
func (rs Runs) Losses(id, title string) *report.Figure {
	return report.Curves(id, title, "epoch", "cross-entropy on training nodes (log scale)",
		rs.history(func(e Epoch) float64 { return e.Loss }), report.Axes{LogY: true})
}

// Scores draws the metric on the validation nodes over the epochs, in percent, with a curve for each run. The vertical
// axis leaves out the low scores of the first epochs. Its lower end is computed from the run whose best score is the
// lowest: this score is rounded down to a multiple of ten, and 10 is subtracted. The lower end is never below 0. The
// upper end is 100 %.
func (rs Runs) Scores(id, title string) *report.Figure {
	least := 100.0
	for _, r := range rs.Runs {
		least = min(least, 100*r.Val)
	}
	return report.Curves(id, title, "epoch", fmt.Sprintf("%s on validation nodes [%%]", rs.Metric),
		rs.history(func(e Epoch) float64 { return 100 * e.Val }),
		report.Axes{RangeY: [2]float64{max(0, 10*math.Floor(least/10)-10), 100}})
}

// history returns a curve for each run, with a point for each epoch. The argument is a function that computes the
// height of a point from the results of its epoch.
func (rs Runs) history(of func(Epoch) float64) []report.Series {
	var all []report.Series
	for _, r := range rs.Runs {
		s := report.Series{Name: r.Name}
		for _, e := range r.History {
			s.X, s.Y = append(s.X, float64(e.Epoch)), append(s.Y, of(e))
		}
		all = append(all, s)
	}
	return all
}

// Smoothness draws the GSL over the number of layers. GSL is the mean cosine similarity of the nodes' features. A run
// has a curve for its forward layers and another curve for its reverse layers, if the GSL after these layers was
// recorded (see [State]). The axis of layers is logarithmic. But if a state after 0 layers (the encoded input) was
// recorded, the axis is linear, since a logarithmic axis cannot show 0.
func (rs Runs) Smoothness(id, title string) *report.Figure {
	var all []report.Series
	axes := report.Axes{Log2X: true}
	for _, r := range rs.Runs {
		for _, direction := range []struct {
			name   string
			states []State
		}{{"forward", r.ForwardStates}, {"reverse", r.ReverseStates}} {
			s := report.Series{Name: r.Name + ", " + direction.name, Style: report.Marked}
			for _, state := range direction.states {
				s.X, s.Y = append(s.X, float64(state.Layer)), append(s.Y, state.GSL)
				axes.Log2X = axes.Log2X && state.Layer > 0
			}
			if len(s.X) > 0 {
				all = append(all, s)
			}
		}
	}
	return report.Curves(id, title, "layers", "GSL", all, axes)
}
