// Package modeltest checks that a model trains on every engine, and twice alike; that an evaluation with its weights
// gives its logits again; that it learns a few labels by heart; that the numbering of nodes does not matter; and that
// gradients agree with finite differences. It also compares a model with its formula on dense matrices.
package modeltest

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
)

// Small is a narrow, shallow configuration without dropout, whose solves converge, so that gradients can be compared
// with finite differences.
func Small(model string) train.Config {
	c := train.Default(model)
	c.Hidden, c.Epochs, c.LearningRate = min(c.Hidden, 8), 20, 0.02
	zero(&c, func(s models.Setting) bool { return s.Absent == 0.0 || strings.HasSuffix(s.Name, "dropout") })
	if c.Forward > 0 {
		c.Forward = 2
	}
	if c.Reverse > 0 {
		c.Reverse, c.Tolerance, c.MaxIterations = 2, 1e-7, 60
	}
	return c
}

// Board is a generated Minesweeper board with side x side cells, as a graph.
func Board(t testing.TB, side int) *graphs.Graph {
	t.Helper()
	g, err := datasets.Minesweeper{Rows: side, Cols: side, Mines: 0.2, Unknown: 0.3, Seed: 1}.Graph()
	fatal(t, err)
	return g
}

func fatal(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func fit(t *testing.T, e *engine.Engine, g *graphs.Graph, c train.Config) *train.Result {
	t.Helper()
	r, err := train.Fit(t.Context(), e, g, 0, c, nil)
	fatal(t, err)
	return r
}

func evaluate(t *testing.T, e *engine.Engine, g *graphs.Graph, c train.Config, weights map[string]train.Array,
	gradients bool) *train.Prediction {
	t.Helper()
	p, err := train.Evaluate(e, g, 0, c, weights, gradients)
	fatal(t, err)
	return p
}

// zero sets the settings for which which is true to 0.
func zero(c *train.Config, which func(models.Setting) bool) {
	for _, s := range c.Settings() {
		if which(s) {
			if err := c.Set(s.Name, "0"); err != nil {
				panic(err)
			}
		}
	}
}

// Check runs all checks on a model, with the settings of [Small] and the given changes.
func Check(t *testing.T, model string, change ...func(c *train.Config)) {
	t.Helper()
	c := Small(model)
	for _, f := range change {
		f(&c)
	}
	g := Board(t, 10)
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		learns(t, e, g, c)
		logits := permutes(t, e, Tiny(t), c)
		variants := []*graphs.Graph{Weigh(t, Tiny(t))}
		if g := TinyDirected(t); c.InputGraph(g).Directed() {
			variants = append(variants, g, Weigh(t, g))
		}
		k, _ := models.Lookup(c.Model)
		for _, g := range variants {
			switch _, err := models.New(c, g, nil); {
			case k.Weighted && c.DropEdge == 0 && c.HalfHop == 0 || !g.Weighted():
				permutes(t, e, g, c)
			case err == nil || !strings.Contains(err.Error(), "weights"):
				t.Errorf("%s reads edges without their weights: %v", c.Model, err)
			}
		}
		overfits(t, e, c, logits)
	})
	if k, _ := models.Lookup(c.Model); !k.Detached && !separate(t, g, c) {
		gradients(t, enginetest.Open(t, engine.Go), g, c)
	}
}

// learns trains a model twice with the same seed. The loss must fall, and the logits must be equal, and those of an
// evaluation, unless this computes otherwise than training; see [separate].
func learns(t *testing.T, e *engine.Engine, g *graphs.Graph, c train.Config) {
	t.Helper()
	var runs []*train.Result
	for range 2 {
		runs = append(runs, fit(t, e, g, c))
	}
	r := runs[0]
	first, last := float64(r.History[0].Loss), float64(r.History[len(r.History)-1].Loss)
	if r.Status != train.OK || !(last < first) {
		t.Errorf("%s: status %s (%s), loss %g to %g", c.Model, r.Status, r.Message, first, last)
	}
	if !slices.Equal(r.Logits, runs[1].Logits) {
		t.Errorf("%s: the same seed gave two results", c.Model)
	}
	if separate(t, g, c) { // Evaluate uses training mode, in which such a model has other logits
		return
	}
	p := evaluate(t, e, g, c, r.Weights, false)
	for i, kept := range r.Logits {
		if math.Abs(float64(p.Logits[i]-kept)) > 1e-4*(1+math.Abs(float64(kept))) {
			t.Errorf("%s: node %d has logit %g, kept was %g", c.Model, i, p.Logits[i], kept)
			return
		}
	}
}

// separate tells whether evaluation mode computes otherwise than training mode, as with batch normalisation.
func separate(t *testing.T, g *graphs.Graph, c train.Config) bool {
	t.Helper()
	d, err := models.DeclarationOn(c, g)
	fatal(t, err)
	return d.Separate
}

// gradients compares the slope of the loss along a random direction, by the gradient, with a finite difference.
func gradients(t *testing.T, e *engine.Engine, g *graphs.Graph, c train.Config) {
	t.Helper()
	c.Epochs = 3
	r := fit(t, e, g, c)
	all := evaluate(t, e, g, c, r.Weights, true).Gradients
	rng := rand.New(rand.NewPCG(7, 7))
	names := slices.Sorted(maps.Keys(all))
	slope, size := 0.0, 0.0
	direction := map[string][]float32{}
	for _, name := range names {
		for _, v := range all[name].Values {
			d := rng.NormFloat64()
			direction[name] = append(direction[name], float32(d))
			slope += d * float64(v)
			size += float64(v) * float64(v)
		}
	}
	// With a larger step, an activation such as ReLU could have its kink between the two points; with a smaller one,
	// rounding errors would be too large.
	const h = 3e-4
	moved := func(by float64) float64 {
		weights := map[string]train.Array{}
		for name, a := range r.Weights {
			values := slices.Clone(a.Values)
			for i := range direction[name] {
				values[i] += float32(by) * direction[name][i]
			}
			weights[name] = train.Array{Shape: a.Shape, Values: values}
		}
		return evaluate(t, e, g, c, weights, false).Loss
	}
	if got := (moved(h) - moved(-h)) / (2 * h); math.Abs(got-slope) > 0.02*math.Sqrt(size) {
		t.Errorf("%s: the gradient along a direction is %g, differences give %g (its norm is %g)",
			c.Model, slope, got, math.Sqrt(size))
	}
}
