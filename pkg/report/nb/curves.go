package nb

import (
	"fmt"
	"math"

	"github.com/revgnn/revgnn/pkg/report"
)

// Losses draws the loss on the training nodes over the epochs, with a curve for each run.
func (rs Runs) Losses(id, title string) *report.Figure {
	return report.Curves(id, title, "epoch", "cross-entropy on training nodes",
		rs.history(func(e Epoch) float64 { return e.Loss }), report.Axes{LogY: true})
}

// Scores draws the metric on the validation nodes over the epochs, with a curve for each run. The vertical axis ends at
// 100 %. It begins at a multiple of ten that is 10 to 20 points below the best score of the worst run, but not below 0.
// So the low scores of the first epochs are left out.
func (rs Runs) Scores(id, title string) *report.Figure {
	least := 100.0
	for _, r := range rs.Runs {
		least = min(least, 100*r.Val)
	}
	return report.Curves(id, title, "epoch", fmt.Sprintf("%s on validation nodes [%%]", rs.Metric),
		rs.history(func(e Epoch) float64 { return 100 * e.Val }),
		report.Axes{RangeY: [2]float64{max(0, 10*math.Floor(least/10)-10), 100}})
}

// history returns a curve for each run. The curve has the value of(e) at every epoch e.
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

// Smoothness draws the GSL after each layer. The GSL says how similar the features of the nodes are ([State]). A run
// for which states were recorded has a curve for the forward layers and a curve for the reverse layers. The axis of
// layers is logarithmic. But if layer 0 (the encoded input) was recorded, too, the axis is linear.
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
