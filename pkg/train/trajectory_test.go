package train

import (
	"fmt"
	"math"
	"testing"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/metrics"
)

// TestTraceAgreesWithPredict checks that Trace and Predict agree. Predict returns the representation: the features
// after the last forward layer and, if there are reverse layers, the features after the last reverse layer. The
// smoothness (GSL) of these features must equal the smoothness that Trace returns for the states after the last layers.
// Trace's probabilities of class 1 must be those that follow from Predict's logits.
func TestTraceAgreesWithPredict(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		g := board(t, 8)
		for _, model := range []string{"gcn+rep", "gcn"} {
			c := Default(model)
			c.Forward, c.Hidden, c.Epochs, c.Norm = 3, 4, 3, "layer"
			if c.HasReverse() {
				c.Reverse, c.Tolerance, c.MaxIterations = 5, 1e-7, 16
			}
			r, err := Fit(t.Context(), e, g, 0, c, nil)
			if err != nil {
				t.Fatal(err)
			}
			p, err := Evaluate(e, g, 0, c, r.Weights, false)
			if err != nil {
				t.Fatal(err)
			}
			trace, err := Trace(e, g, 0, c, r.Weights, []int{3, 0, 1, 5, 5, 1024, -1})
			if err != nil {
				t.Fatal(err)
			}
			layers := func(states []State) (out []int) {
				for _, s := range states {
					out = append(out, s.Layer)
				}
				return out
			}
			want := "[0 1 3] [0 1 3 5]"
			if model == "gcn" {
				want = "[0 1 3] []"
			}
			if got := fmt.Sprint(layers(trace.Forward), layers(trace.Reverse)); got != want {
				t.Fatalf("%s: layers %s, want %s", model, got, want)
			}
			near := func(what string, got, want float64) {
				if !(math.Abs(got-want) < 1e-4) {
					t.Errorf("%s: %s is %g, want %g", model, what, got, want)
				}
			}
			// part computes the smoothness of the columns of the representation from column first to column
			// first+c.Hidden-1. The forward state begins at column 0, and the reverse state at column c.Hidden.
			part := func(first int) float64 {
				x := make([]float32, 0, g.NumNodes*c.Hidden)
				for i := range g.NumNodes {
					x = append(x, p.Representation[i*p.Width+first:i*p.Width+first+c.Hidden]...)
				}
				s, err := metrics.Smooth(g, x, c.Hidden)
				if err != nil {
					t.Fatal(err)
				}
				return s.GSL
			}
			near("GSL forward", float64(trace.Forward[2].GSL), part(0))
			if model != "gcn" {
				near("GSL reverse", float64(trace.Reverse[3].GSL), part(c.Hidden))
			}
			for i, logit := range p.Logits {
				near("a probability", trace.Probability[i], 1/(1+math.Exp(-float64(logit))))
				if model == "gcn" {
					near("the last layer's probability", trace.Forward[2].Probability[i], trace.Probability[i])
				}
			}
		}
		if _, err := Trace(e, g, 0, Default("grand"), nil, []int{1}); err == nil {
			t.Error("GRAND was followed layer by layer")
		}
	})
}
