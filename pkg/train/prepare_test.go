package train

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/metrics"
)

// customers is a board whose first feature is there again as noise around the class, in a column "score"; a column
// "joined" has noise of the same size, or, if raw, in seconds since 1970.
func customers(t *testing.T, raw bool) *graphs.Graph {
	t.Helper()
	g, err := datasets.Minesweeper{Rows: 20, Cols: 20, Mines: 0.2, Unknown: 0.3, Seed: 1}.Graph()
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	x := make([]float32, 0, 2*g.NumNodes)
	for _, label := range g.Labels {
		score, joined := rng.NormFloat64()+float64(label), rng.NormFloat64()
		if raw {
			joined = 1.7e9 + 2e6*joined
		}
		x = append(x, float32(score), float32(joined))
	}
	g.Features, g.NumFeatures, g.FeatureNames = x, 2, []string{"score", "joined"}
	return g
}

// TestStandardisedColumnsReachTheUnitScale trains four models on the same information in other units. With
// standardised columns, the mean over splits must come within one standard deviation of that of unit-scaled ones;
// without, a notice warns.
func TestStandardisedColumnsReachTheUnitScale(t *testing.T) {
	e := enginetest.Open(t, engine.CPU)
	for _, model := range []string{"sage+rep", "gcn", "sage", "mlp"} {
		c := Default(model)
		c.Hidden, c.Epochs, c.LearningRate, c.Forward = 16, 60, 0.02, min(c.Forward, 1)
		if c.Reverse > 0 {
			c.Reverse = 4
		}
		test := func(raw bool, scale string) (values []float64, notices string) {
			c.Scale = scale
			g := customers(t, raw)
			for split := range 3 {
				r, err := Fit(context.Background(), e, g, split, c,
					&Options{Notice: func(text string) { notices += text + "\n" }})
				if err != nil {
					t.Fatal(err)
				}
				values = append(values, float64(r.Test))
			}
			return values, notices
		}
		unit, quiet := test(false, "none")
		plain, warned := test(true, "none")
		scaled, said := test(true, "standardise")
		if metrics.Mean(scaled) < metrics.Mean(unit)-metrics.SampleStd(unit) {
			t.Errorf("%s: %.3f in other units, %.3f ± %.3f in these", model, metrics.Mean(scaled), metrics.Mean(unit),
				metrics.SampleStd(unit))
		}
		t.Logf("%s: unit %.3f ± %.3f, raw %.3f, standardised %.3f", model, metrics.Mean(unit), metrics.SampleStd(unit),
			metrics.Mean(plain), metrics.Mean(scaled))
		if quiet != "" || !strings.Contains(warned, "differ in scale") ||
			!strings.Contains(said, "standardised score, joined") {
			t.Errorf("%s: notices %q, %q, %q", model, quiet, warned, said)
		}
	}
}

// TestEachSplitIsPreparedByItsOwnNodes compares with trainings on a graph that was standardised before.
func TestEachSplitIsPreparedByItsOwnNodes(t *testing.T) {
	e, g := enginetest.Open(t, engine.Go), customers(t, true)
	c := Default("gcn")
	c.Hidden, c.Epochs, c.Forward = 4, 3, 1
	var losses []float64
	for split := range 2 {
		c.Scale = "standardise"
		r, err := Fit(t.Context(), e, g, split, c, nil)
		if err != nil {
			t.Fatal(err)
		}
		before, _, err := r.Prepared.Apply(g)
		if err != nil {
			t.Fatal(err)
		}
		c.Scale = "none"
		want, err := Fit(t.Context(), e, before, split, c, nil)
		if err != nil || !slices.Equal(r.Logits, want.Logits) || want.Prepared != nil {
			t.Errorf("split %d: other logits than of the prepared graph; %v", split, err)
		}
		c.Scale = "standardise"
		p, err := Evaluate(e, g, split, c, r.Weights, false)
		if err != nil || !(p.Loss > 0) {
			t.Errorf("split %d: %v", split, err)
		}
		losses = append(losses, r.Prepared.Columns[0].Mean)
	}
	if losses[0] == losses[1] {
		t.Error("both splits have the same means")
	}
}

// TestGraphsWithoutFeatures trains on the structure alone.
func TestGraphsWithoutFeatures(t *testing.T) {
	e, g := enginetest.Open(t, engine.Go), customers(t, false)
	g.Features, g.NumFeatures, g.FeatureNames = nil, 0, nil
	c := Default("gcn")
	c.Hidden, c.Epochs, c.Forward = 4, 3, 1
	if _, err := Fit(t.Context(), e, g, 0, c, nil); err == nil || !strings.Contains(err.Error(), "--structure degree") {
		t.Errorf("got %v", err)
	}
	for structure, width := range map[string]int{"constant": 1, "degree": 1, "identity": 400, "laplacian": 8,
		"random-walk": 8} {
		c.Structure = structure
		r, err := Fit(t.Context(), e, g, 0, c, nil)
		if err != nil || len(r.Prepared.Names) != width || r.Status != OK {
			t.Errorf("%s: %v, %v", structure, r, err)
		}
	}
}
