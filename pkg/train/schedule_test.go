package train

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/models"
)

// TestRates compares with learning rates from Python: torch's LinearLR(start_factor=1/3, total_iters=2) and then
// CosineAnnealingLR(T_max=7) in closed form, and ReduceLROnPlateau(factor=0.5) after its source.
func TestRates(t *testing.T) {
	c := small("gcn")
	c.LearningRate, c.Schedule, c.Warmup, c.Epochs = 0.02, "cosine", 3, 10
	f := &fit{session: &session{config: c}}
	for i, want := range []float64{0.006666666666666667, 0.013333333333333334, 0.02, 0.02, 0.01900968867902419,
		0.016234898018587338, 0.012225209339563144, 0.007774790660436856, 0.0037651019814126654,
		0.0009903113209758097} {
		if got := f.rate(i+1, nil); math.Abs(got-want) > 1e-15 {
			t.Errorf("epoch %d: %v, want %v", i+1, got, want)
		}
	}
	f.config.Schedule = "constant"
	if got := f.rate(7, nil); got != 0.02 {
		t.Errorf("constant: %v", got)
	}
	f.config.Schedule, f.config.Warmup = "plateau", 0
	for _, c := range []struct {
		metric string
		vals   []Number
	}{
		{"roc_auc", slices.Concat([]Number{0.5, 0.6}, slices.Repeat([]Number{0.60005}, 11),
			slices.Repeat([]Number{0.7}, 24))},
		{"log_loss", slices.Concat([]Number{0.7, 0.6}, slices.Repeat([]Number{0.59995}, 11),
			slices.Repeat([]Number{0.5}, 24))},
	} {
		f.metric = metrics.Named(c.metric)
		var history []Epoch
		var at []int
		last := 0.02
		for i, v := range c.vals {
			if rate := f.rate(i+1, history); rate != last {
				at, last = append(at, i+1), rate
			}
			history = append(history, Epoch{Epoch: i + 1, Val: v})
		}
		if fmt.Sprint(at) != "[14 26 37]" || last != 0.0025 {
			t.Errorf("%s: the rate falls at %v, to %v", c.metric, at, last)
		}
		// Epochs of the warm-up do not count, not even as the best.
		f.config.Warmup = 14
		if got := f.rate(26, history[:25]); got != 0.02 {
			t.Errorf("%s: after a warm-up, %v", c.metric, got)
		}
		f.config.Warmup = 0
	}
}

// TestSteps compares parameters after some steps with the formulas of torch.optim.Adam, torch.optim.AdamW,
// torch.nn.utils.clip_grad_norm_ and a warm-up, computed from the model's gradients in float64.
func TestSteps(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		g := board(t, 8)
		for name, set := range map[string]func(*Config){
			"adam":         func(c *Config) { c.WeightDecay = 0.1 },
			"adamw":        func(c *Config) { c.Optimiser, c.WeightDecay = "adamw", 0.1 },
			"clipped":      func(c *Config) { c.ClipNorm, c.WeightDecay = 0.05, 0.1 },
			"hardly":       func(c *Config) { c.ClipNorm = 1e6 },
			"warm":         func(c *Config) { c.Warmup = 4 },
			"cosine":       func(c *Config) { c.Schedule, c.Optimiser, c.WeightDecay = "cosine", "adamw", 0.01 },
			"smoothed":     func(c *Config) { c.LabelSmoothing = 0.2 },
			"all together": func(c *Config) { *c = ambitious(*c) },
		} {
			c := small("mlp")
			c.Dropout, c.Epochs, c.LearningRate = 0, 12, 0.05
			set(&c)
			s, err := newSession(e, g, 0, c)
			if err != nil {
				t.Fatal(err)
			}
			f := &fit{session: s, result: &Result{}, metric: Metric(c, g)}
			if err := f.start(); err != nil {
				t.Fatal(err)
			}
			values := func() map[string]Array {
				if err := f.keep(nil); err != nil {
					t.Fatal(err)
				}
				return f.result.Weights
			}
			moments := map[string][][2]float64{}
			for step := 1; step <= 5; step++ {
				before := values()
				p, err := Evaluate(e, g, 0, c, before, true)
				if err != nil {
					t.Fatal(err)
				}
				if err := f.setRate(step); err != nil {
					t.Fatal(err)
				}
				out, _, err := f.one()
				if err != nil {
					t.Fatal(err)
				}
				if loss := float64(tensors.ToScalar[float32](out[outLoss])); math.Abs(loss-p.Loss) > 1e-6 {
					t.Errorf("%s: loss %v, evaluated %v", name, loss, p.Loss)
				}
				release(out)
				total, rate := 0.0, f.rate(step, nil)
				for _, gradient := range p.Gradients {
					for _, v := range gradient.Values {
						total += float64(v) * float64(v)
					}
				}
				clip := 1.0
				if c.ClipNorm > 0 {
					clip = min(1, c.ClipNorm/(math.Sqrt(total)+1e-6))
				}
				if name == "clipped" && clip == 1 {
					t.Error("no gradient was clipped")
				}
				for parameter, after := range values() {
					m := moments[parameter]
					if m == nil {
						m = make([][2]float64, len(after.Values))
						moments[parameter] = m
					}
					for i, got := range after.Values {
						w, d := float64(before[parameter].Values[i]), clip*float64(p.Gradients[parameter].Values[i])
						if c.Optimiser == "adamw" {
							w -= rate * c.WeightDecay * w
						} else {
							d += c.WeightDecay * w
						}
						m[i][0] = 0.9*m[i][0] + 0.1*d
						m[i][1] = 0.999*m[i][1] + 0.001*d*d
						mean := m[i][0] / (1 - math.Pow(0.9, float64(step)))
						square := m[i][1] / (1 - math.Pow(0.999, float64(step)))
						want := w - rate*mean/(math.Sqrt(square)+1e-8)
						if math.Abs(float64(got)-want) > 2e-4*rate+1e-7 {
							t.Fatalf("%s: step %d, %s[%d] is %v, want %v", name, step, parameter, i, got, want)
						}
					}
				}
			}
			f.stepper.Finalize()
			s.close()
		}
	})
}

// ambitious has all that changes steps, on top of c.
func ambitious(c Config) Config {
	c.Optimiser, c.WeightDecay, c.Schedule, c.Warmup = "adamw", 0.05, "plateau", 2
	c.ClipNorm, c.LabelSmoothing = 0.5, 0.1
	return c
}

// TestLabelSmoothing compares the loss with its definition: the cross-entropy between the targets 1 - ε + ε/K for a
// node's class and ε/K for others, and the probabilities.
func TestLabelSmoothing(t *testing.T) {
	e := enginetest.Open(t, engine.Go)
	g := board(t, 8)
	three := *g
	three.Labels, three.NumClasses = slices.Clone(g.Labels), 3
	for i := range three.Labels {
		three.Labels[i] = int32(i % 3)
	}
	for _, g := range []*graphs.Graph{g, &three} {
		c := small("gcn")
		c.LabelSmoothing = 0.3
		r := fitted(t, e, g, c)
		p, err := Evaluate(e, g, 0, c, r.Weights, false)
		if err != nil {
			t.Fatal(err)
		}
		sum, nodes, k := 0.0, 0.0, float64(g.NumClasses)
		for i, v := range p.Probabilities() {
			node, class := i/g.NumClasses, i%g.NumClasses
			if !g.Splits[0].Train[node] {
				continue
			}
			target := 0.3 / k
			if g.Labels[node] == int32(class) {
				target += 0.7
			}
			sum, nodes = sum-target*math.Log(v), nodes+1/k
		}
		if math.Abs(p.Loss-sum/nodes) > 1e-5 {
			t.Errorf("%d classes: a loss of %v, want %v", g.NumClasses, p.Loss, sum/nodes)
		}
	}
}

// TestGoingOn trains for a few epochs and then for more, on from the state of the last one. The result must equal that
// of a training with as many epochs from the start, also with all that changes steps, and where the training then stops
// early. A cosine's rates depend on the number of epochs, and other settings must be the same.
func TestGoingOn(t *testing.T) {
	e, g := enginetest.Open(t, engine.Go), board(t, 10)
	all := ongoing()
	for _, model := range []string{"gcn+rep", "gat+rep"} {
		c := ambitious(all[model])
		c.Patience, c.Epochs = 0, 30
		all[model+", ambitious"] = c
	}
	for name, c := range all {
		whole := fitted(t, e, g, c)
		k := &Checkpoint{Path: filepath.Join(t.TempDir(), "state"), Every: time.Hour, Last: true}
		short := c
		short.Epochs = 3
		if _, err := Fit(t.Context(), e, g, 0, short, &Options{Checkpoint: k}); err != nil {
			t.Fatal(err)
		}
		short.Epochs = 7
		same(t, name+" for 7 epochs", resumed(t, e, g, short, k, "going on after epoch 3"), fitted(t, e, g, short))
		same(t, name, resumed(t, e, g, c, k, "going on after epoch 7"), whole)
	}
	for _, schedule := range []string{"cosine", "plateau"} {
		c := small("gcn")
		c.Epochs, c.Schedule, c.Warmup = 5, schedule, 2
		k := &Checkpoint{Path: filepath.Join(t.TempDir(), "state"), Last: true}
		if _, err := Fit(t.Context(), e, g, 0, c, &Options{Checkpoint: k}); err != nil {
			t.Fatal(err)
		}
		c.Epochs = 9
		_, err := Fit(t.Context(), e, g, 0, c, &Options{Checkpoint: k})
		refused := err != nil && strings.Contains(err.Error(), "has epochs 5, not 9")
		if refused != (schedule == "cosine") || err != nil && !refused {
			t.Errorf("%s: %v", schedule, err)
		}
	}
	c := small("gcn")
	c.Epochs, c.Warmup = 5, 5
	_, err := Fit(t.Context(), e, g, 0, c, nil)
	if err == nil || !strings.Contains(err.Error(), "choose fewer than the 5") {
		t.Errorf("got %v", err)
	}
	c.Optimiser = "sgd"
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "adam or adamw") {
		t.Errorf("got %v", err)
	}
	if _, has := models.Default("gcn").Values()["schedule"]; has {
		t.Error("a setting that is absent is among the values")
	}
}
