package train

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/layers"
)

func board(t *testing.T, side int) *graphs.Graph {
	t.Helper()
	g, err := datasets.Minesweeper{Rows: side, Cols: side, Mines: 0.2, Unknown: 0.3, Seed: 1}.Graph()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func small(model string) Config {
	c := Default(model)
	c.Hidden, c.Epochs, c.LearningRate = min(c.Hidden, 8), 30, 0.02
	if c.Forward > 0 {
		c.Forward = 2
	}
	if c.Reverse > 0 {
		c.Reverse = 3
	}
	return c
}

func fitted(t *testing.T, e *engine.Engine, g *graphs.Graph, c Config) *Result {
	t.Helper()
	r, err := Fit(context.Background(), e, g, 0, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestFitLearnsOnBothEngines(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		for _, model := range []string{"gcn", "gcn+rep", "gat", "gat+rep"} {
			c := small(model)
			r := fitted(t, e, board(t, 16), c)
			first, last := float64(r.History[0].Loss), float64(r.History[len(r.History)-1].Loss)
			if r.Status != OK || !(last < first) || len(r.History) != c.Epochs || r.Epochs != c.Epochs {
				t.Errorf("%s: status %s, loss %g to %g in %d epochs", model, r.Status, first, last, len(r.History))
			}
			best := r.History[r.BestEpoch-1].Val
			if best != r.Val || slices.ContainsFunc(r.History, func(e Epoch) bool { return e.Val > r.Val }) {
				t.Errorf("%s: best epoch %d has %v, kept %v, which must be the largest",
					model, r.BestEpoch, best, r.Val)
			}
			if c.HasReverse() && (r.Iterations.Solve < 1 || r.Iterations.Adjoint < 1) {
				t.Errorf("%s: iterations %+v", model, r.Iterations)
			}
		}
	})
}

// TestKeptWeightsGiveKeptLogits evaluates a model with the weights that its training returned. This must give the
// logits that the training returned, which are those of the best epoch. If the training returned the weights of another
// epoch, the logits would differ.
func TestKeptWeightsGiveKeptLogits(t *testing.T) {
	e := enginetest.Open(t, engine.Go)
	g := board(t, 10)
	for _, norm := range []string{"none", "layer"} {
		c := small("gcn+rep")
		c.Norm = norm
		r := fitted(t, e, g, c)
		p, err := Evaluate(e, g, 0, c, r.Weights, true)
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Logits {
			if math.Abs(float64(p.Logits[i]-r.Logits[i])) > 1e-4 {
				t.Fatalf("norm %s: node %d has logit %g, kept was %g", norm, i, p.Logits[i], r.Logits[i])
			}
		}
	}
}

func TestSeedsDecide(t *testing.T) {
	e := enginetest.Open(t, engine.Go)
	g := board(t, 10)
	c := small("gcn+rep")
	c.Epochs, c.Dropout = 5, 0.3
	one, two := fitted(t, e, g, c), fitted(t, e, g, c)
	c.Seed = 1
	three := fitted(t, e, g, c)
	if !slices.Equal(one.Logits, two.Logits) {
		t.Error("the same seed gave two results")
	}
	if slices.Equal(one.Logits, three.Logits) {
		t.Error("two seeds gave the same result")
	}
}

// TestBoundHolds trains with a large learning rate, which makes the norm of the weight grow until it reaches its bound.
// From then on, training must keep the norm at the bound.
func TestBoundHolds(t *testing.T) {
	e := enginetest.Open(t, engine.Go)
	for _, model := range []string{"gcn+rep", "gat+rep"} {
		c := small(model)
		c.Lipschitz, c.LearningRate = 0.3, 0.1
		if c.Heads > 0 {
			c.Heads = 2
		}
		r := fitted(t, e, board(t, 8), c)
		w := r.Weights["stack.0.body.lin.weight"].Values
		heads := 1
		if model == "gat+rep" {
			heads = 2
		}
		norm := 0.0
		for head := range slices.Chunk(w, len(w)/heads) {
			norm += layers.Frobenius(head) / float64(heads)
		}
		if norm > 0.3*(1+1e-5) || norm < 0.29 {
			t.Errorf("%s: the norm is %g after steps of 0.1, want it at its bound 0.3", model, norm)
		}
	}
}

func TestBatchNormAndDropout(t *testing.T) {
	e := enginetest.Open(t, engine.Go)
	c := small("gcn+rep")
	c.Norm, c.Dropout = "batch", 0.2
	r := fitted(t, e, board(t, 10), c)
	mean := r.Weights["out_norm.running_mean"].Values
	if r.Status != OK || len(mean) != 16 || !slices.ContainsFunc(mean, func(v float32) bool { return v != 0 }) {
		t.Errorf("status %s, running mean %v", r.Status, mean)
	}
}

func TestEarlyStopping(t *testing.T) {
	e := enginetest.Open(t, engine.Go)
	c := small("gcn")
	c.Epochs, c.Patience, c.LearningRate = 500, 3, 1e-9
	if r := fitted(t, e, board(t, 8), c); r.Epochs > 20 || r.Epochs < r.BestEpoch+c.Patience {
		t.Errorf("%d epochs, the best was %d, patience %d", r.Epochs, r.BestEpoch, c.Patience)
	}
}

func TestDivergenceAndInterruption(t *testing.T) {
	e := enginetest.Open(t, engine.Go)
	c := small("gcn")
	c.LearningRate, c.Forward = 1e30, 4
	if r := fitted(t, e, board(t, 8), c); r.Status != Diverged || r.Message == "" {
		t.Errorf("a learning rate of 1e30 ended as %s: %s", r.Status, r.Message)
	}
	ctx, cancel := context.WithCancel(context.Background())
	c = small("gcn")
	c.Epochs = 1000
	r, err := Fit(ctx, e, board(t, 8), 0, c, &Options{Epoch: func(at Epoch) {
		if at.Epoch == 3 {
			cancel()
		}
	}})
	if err != nil || r.Status != Interrupted || r.Epochs > 6 || math.IsNaN(float64(r.Val)) {
		t.Errorf("interrupted in epoch 3: %v, %+v", err, r)
	}
}

func TestUnconvergedSolvesWarn(t *testing.T) {
	e := enginetest.Open(t, engine.Go)
	c := small("gcn+rep")
	c.MaxIterations = 1
	r := fitted(t, e, board(t, 8), c)
	if r.Status != OK || !strings.Contains(r.Message, "--max-iterations") || !strings.Contains(r.Message, "layer") {
		t.Errorf("one iteration per layer: status %s, message %q", r.Status, r.Message)
	}
}

// TestDepthIsALoop checks that the reverse layers are a loop in the compiled program. If they are a loop, compiling
// 1024 layers takes about as long as compiling 16 layers. With 1024 layers, the loss of the first step must not be NaN.
func TestDepthIsALoop(t *testing.T) {
	e := enginetest.Open(t, engine.CPU)
	c := small("gcn+rep")
	c.Epochs = 2
	g := board(t, 8)
	c.Reverse = 16
	shallow, err := Bench(context.Background(), e, g, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Reverse = 1024
	deep, err := Bench(context.Background(), e, g, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	if math.IsNaN(float64(deep.Loss)) || deep.CompileSeconds > 3*shallow.CompileSeconds+1 {
		t.Errorf("1024 layers: loss %v, compiled in %.2f s; 16 layers in %.2f s",
			deep.Loss, deep.CompileSeconds, shallow.CompileSeconds)
	}
}

// TestBenchFromWeights checks from which parameters the steps of a benchmark start. If no weights are given, all steps
// must start from the same parameters. If weights are given, the first step must start from these weights, and each
// later step must start from the parameters that the step before has computed.
func TestBenchFromWeights(t *testing.T) {
	e := enginetest.Open(t, engine.Go)
	g, c := board(t, 6), small("gcn+rep")
	c.Epochs = 3
	kept := fitted(t, e, g, c)
	for _, weights := range []map[string]Array{nil, kept.Weights} {
		b, err := Bench(t.Context(), e, g, c, weights)
		if err != nil {
			t.Fatal(err)
		}
		if len(b.Losses) != 3 || b.Loss != b.Losses[0] || (b.Losses[2] == b.Losses[0]) != (weights == nil) {
			t.Errorf("given weights %t: losses %v", weights != nil, b.Losses)
		}
	}
	if _, err := Bench(t.Context(), e, g, c, map[string]Array{}); err == nil {
		t.Error("missing weights were accepted")
	}
}

func TestInvert(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		for _, model := range []string{"gcn+rep", "gat+rep"} {
			c := small(model)
			c.Forward, c.MaxIterations, c.Lipschitz = 16, 8, 0.99999
			inv, err := Invert(context.Background(), e, board(t, 10), c)
			if err != nil {
				t.Fatal(err)
			}
			if !(inv.MeanAbsError < 1e-3*inv.MeanAbsInput) || len(inv.Residual) != 8 ||
				inv.Residual[7] > inv.Residual[0]/100 {
				t.Errorf("%s: error %g of inputs of %g, residuals %v",
					model, inv.MeanAbsError, inv.MeanAbsInput, inv.Residual)
			}
		}
	})
}

func TestImpossibleSettings(t *testing.T) {
	e := enginetest.Open(t, engine.Go)
	g := board(t, 4)
	for what, change := range map[string]func(*Config){
		"model": func(c *Config) { c.Model = "gcn+reverse" }, "hidden": func(c *Config) { c.Hidden = 0 },
		"lipschitz": func(c *Config) { c.Lipschitz = 1 }, "lr": func(c *Config) { c.LearningRate = math.NaN() },
		"tolerance": func(c *Config) { c.Tolerance = -1 }, "norm": func(c *Config) { c.Norm = "pair" },
		"no-bias":       func(c *Config) { *c = Default("grand"); c.NoBias = true },
		"reverse":       func(c *Config) { *c = Default("gcn"); c.Reverse = 4 },
		"another model": func(c *Config) { c.Own = Default("grand").Own }, "epochs": func(c *Config) { c.Epochs = 0 },
		"dropout": func(c *Config) { c.Dropout = 1 },
	} {
		c := small("gcn+rep")
		change(&c)
		if _, err := Fit(context.Background(), e, g, 0, c, nil); err == nil || !strings.Contains(err.Error(), what) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("impossible %s: want one sentence that names it, got %v", what, err)
		}
	}
	if _, err := Fit(context.Background(), e, g, 10, small("gcn"), nil); err == nil ||
		!strings.Contains(err.Error(), "0 to 9") {
		t.Errorf("split 10 of 0 to 9: %v", err)
	}
	g.NumClasses = 3 // labels are 0 and 1
	if _, err := Fit(context.Background(), e, g, 0, small("gcn"), nil); err == nil ||
		!strings.Contains(err.Error(), "no node of class 2") {
		t.Errorf("a class without nodes: %v", err)
	}
}
