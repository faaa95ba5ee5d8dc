package nb

import (
	"fmt"
	"math"

	"github.com/revgnn/revgnn/pkg/report"
)

func (rs Runs) Losses(id, title string) *report.Figure {
	return report.Curves(id, title, "epoch", "cross-entropy on training nodes (log scale)",
		rs.history(func(e Epoch) float64 { return e.Loss }), report.Axes{LogY: true})
}

// Scores draws the metric on the validation nodes over the epochs, in percent, without the low scores of first epochs.
func (rs Runs) Scores(id, title string) *report.Figure {
	least := 100.0
	for _, r := range rs.Runs {
		least = min(least, 100*r.Val)
	}
	return report.Curves(id, title, "epoch", fmt.Sprintf("%s on validation nodes [%%]", rs.Metric),
		rs.history(func(e Epoch) float64 { return 100 * e.Val }),
		report.Axes{RangeY: [2]float64{max(0, 10*math.Floor(least/10)-10), 100}})
}

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

// Measure is a measure of over-smoothing, its name on the axis and its value of a state.
type Measure struct {
	Name string
	Of   func(State) float64
	Log  bool
}

// GSL, Dirichlet, MAD and EffectiveRank are the measures of [metrics.Smoothness] in package metrics.
var (
	GSL           = Measure{"GSL", func(s State) float64 { return s.GSL }, false}
	Dirichlet     = Measure{"Dirichlet energy (log scale)", func(s State) float64 { return s.Dirichlet }, true}
	MAD           = Measure{"MAD of neighbours", func(s State) float64 { return s.MAD }, false}
	EffectiveRank = Measure{"effective rank", func(s State) float64 { return s.EffectiveRank }, false}
)

// Smoothness draws a measure of over-smoothing, the GSL unless another is given, over the layers of both directions of
// each run with states. The axis of layers is logarithmic unless there is layer 0, the encoded input.
func (rs Runs) Smoothness(id, title string, of ...Measure) *report.Figure {
	measure := GSL
	if len(of) > 0 {
		measure = of[0]
	}
	var all []report.Series
	axes := report.Axes{Log2X: true, LogY: measure.Log}
	for _, r := range rs.Runs {
		for _, direction := range []struct {
			name   string
			states []State
		}{{"forward", r.ForwardStates}, {"reverse", r.ReverseStates}} {
			s := report.Series{Name: r.Name + ", " + direction.name, Style: report.Marked}
			for _, state := range direction.states {
				s.X, s.Y = append(s.X, float64(state.Layer)), append(s.Y, measure.Of(state))
				axes.Log2X = axes.Log2X && state.Layer > 0
			}
			if len(s.X) > 0 {
				all = append(all, s)
			}
		}
	}
	return report.Curves(id, title, "layers", measure.Name, all, axes)
}
