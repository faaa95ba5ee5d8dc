package train

import (
	"context"
	"fmt"
	"time"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/models"
)

// Benchmark is the result of [Bench].
type Benchmark struct {
	Model  string `json:"model"`
	Graph  string `json:"dataset"`
	Config Config `json:"config"`
	Engine string `json:"engine"`
	// Threads is that of the engine, or 0 if results do not depend on it.
	Threads int `json:"threads,omitempty"`
	// EpochSeconds is the median of the steps but the first, CompileSeconds the time to compile the step.
	Epochs         int     `json:"epochs"`
	EpochSeconds   float64 `json:"epoch_seconds"`
	CompileSeconds float64 `json:"compile_seconds"`
	// PeakRSS is the peak of the process's memory (resident set size), in bytes. PredictedBytes predicts it before the
	// first step, from what the compiler reports, or is 0.
	PeakRSS        int64      `json:"peak_rss_bytes"`
	PredictedBytes int64      `json:"predicted_bytes,omitempty"`
	Iterations     Iterations `json:"iterations"`
	// Losses are those before each step, Loss the first. They are equal if steps start from the same parameters, but
	// for dropout.
	Losses []Number `json:"losses"`
	Loss   Number   `json:"loss"`
}

// Bench times c.Epochs training steps, at least 2, on the first split, without evaluations. Without weights, every step
// starts from the same parameters, drawn by c.Seed, and does the same work. With weights, the first step starts from
// these and each later one from the last, as in training, so that losses can be compared with another implementation.
func Bench(ctx context.Context, e *engine.Engine, g *graphs.Graph, c Config,
	weights map[string]Array) (b *Benchmark, err error) {
	defer models.Recovered(&err)
	if c.Epochs < 2 {
		return nil, fmt.Errorf("epochs is %d: a benchmark needs 2 at least, since the first is not counted", c.Epochs)
	}
	s, err := newSession(e, g, 0, c)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if weights != nil {
		if err := s.load(weights); err != nil {
			return nil, err
		}
	}
	f := &fit{session: s, started: time.Now(), result: &Result{}}
	if err := f.start(); err != nil {
		return nil, err
	}
	defer f.stepper.Finalize()
	b = &Benchmark{Model: c.Model, Graph: g.Name, Config: s.config, Engine: e.Name, Threads: e.Threads}
	for epoch := range c.Epochs {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("interrupted after %d of %d epochs", epoch, c.Epochs)
		}
		out, took, err := f.one()
		if err != nil {
			return nil, err
		}
		if why := s.explain(out[outOutcome]); why != "" {
			return nil, fmt.Errorf("the model cannot be timed: %s", why)
		}
		loss := float64(tensors.ToScalar[float32](out[outLoss]))
		f.account(epoch+1, loss, out, took)
		b.Losses = append(b.Losses, Number(loss))
		if weights != nil {
			release(out)
			continue
		}
		for i, v := range s.trainable() { // back to the value before the step; the store then owns the tensor
			if err := v.SetValue(out[outParams+i]); err != nil {
				return nil, fmt.Errorf("parameter %s cannot be set back: %w", models.NameOf(v), err)
			}
		}
		release(out[:outParams])
	}
	f.finish()
	r := f.result
	b.Loss = b.Losses[0]
	b.Epochs, b.EpochSeconds, b.CompileSeconds, b.PeakRSS, b.PredictedBytes, b.Iterations = r.Epochs, r.EpochSeconds,
		r.CompileSeconds, r.PeakRSS, r.PredictedBytes, r.Iterations
	return b, nil
}
