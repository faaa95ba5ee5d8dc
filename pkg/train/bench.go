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

// Benchmark is the result of [Bench]: the time and the memory that training steps take.
type Benchmark struct {
	Model  string `json:"model"`
	Graph  string `json:"dataset"`
	Config Config `json:"config"`
	Engine string `json:"engine"`
	// Threads is the number of threads on which the engine computed, or 0 if results do not depend on this number.
	Threads int `json:"threads,omitempty"`
	// Epochs is the number of training steps. EpochSeconds is the median time of a step; the first step is left out of
	// the median. CompileSeconds is the time to build the program of the training step and to compile it.
	Epochs         int     `json:"epochs"`
	EpochSeconds   float64 `json:"epoch_seconds"`
	CompileSeconds float64 `json:"compile_seconds"`
	// PeakRSS is the largest amount of main memory that the process has used at one time, in bytes (resident set size).
	// It counts the time from the start of the process to the end of the benchmark.
	PeakRSS int64 `json:"peak_rss_bytes"`
	// PredictedBytes is a prediction of PeakRSS. It is made before the first step, from the memory that the compiler
	// reports for the program. It is 0 if the compiler reports nothing.
	PredictedBytes int64      `json:"predicted_bytes,omitempty"`
	Iterations     Iterations `json:"iterations"`
	// Losses has the loss of each step, computed with the parameters before the step. Loss is the loss of the first
	// step. If every step starts from the same parameters (see [Bench]), all losses are equal, unless there is dropout,
	// which differs from step to step.
	Losses []Number `json:"losses"`
	Loss   Number   `json:"loss"`
}

// Bench measures the time of training steps (forward pass, backward pass and Adam) on the first split, without
// evaluations. The number of steps is c.Epochs. It must be at least 2, since the median time leaves out the first step.
//
// If weights is nil, every step starts from the same parameters, drawn with the seed c.Seed, so that all steps do the
// same work. If weights is not nil, the first step starts from these weights. Each later step starts from the
// parameters that the step before has computed, as in training. The losses can then be compared with those of another
// implementation that starts from the same weights.
func Bench(ctx context.Context, e *engine.Engine, g *graphs.Graph, c Config,
	weights map[string]Array) (b *Benchmark, err error) {
	defer recovered(&err)
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
		if err := s.setBack(out[outParams:]); err != nil {
			return nil, err
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

// setBack gives the parameters the values that they had before a step. The tensors in before are these values, in the
// order in which s.trainable lists the parameters. Afterwards the store owns the tensors: the caller must neither use
// nor release them.
func (s *session) setBack(before []*tensors.Tensor) error {
	for i, v := range s.trainable() {
		if err := v.SetValue(before[i]); err != nil {
			return fmt.Errorf("parameter %s cannot be set back: %w", models.NameOf(v), err)
		}
	}
	return nil
}
