package train

import (
	"context"
	"fmt"
	"time"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
)

// Benchmark is what training steps cost.
type Benchmark struct {
	Model  string `json:"model"`
	Graph  string `json:"dataset"`
	Config Config `json:"config"`
	Engine string `json:"engine"`
	// Epochs timed. EpochSeconds is the median of all steps but the first, CompileSeconds what the first took longer.
	Epochs         int     `json:"epochs"`
	EpochSeconds   float64 `json:"epoch_seconds"`
	CompileSeconds float64 `json:"compile_seconds"`
	// PeakRSS of the process, in bytes.
	PeakRSS    int64      `json:"peak_rss_bytes"`
	Iterations Iterations `json:"iterations"`
	// Loss before the first step and before the last.
	FirstLoss Number `json:"first_loss"`
	Loss      Number `json:"loss"`
}

// Bench times c.Epochs training steps (forward, backward, Adam) on the first split, without evaluation. It needs two at
// least.
func Bench(ctx context.Context, e *engine.Engine, g *graphs.Graph, c Config) (b *Benchmark, err error) {
	defer recovered(&err)
	if c.Epochs < 2 {
		return nil, fmt.Errorf("epochs is %d: a benchmark needs 2 at least, since the first compiles the program", c.Epochs)
	}
	s, err := newSession(e, g, 0, c)
	if err != nil {
		return nil, err
	}
	defer s.close()
	f := &fit{session: s, started: time.Now(), result: &Result{}}
	if f.stepper, err = model.NewExec(e.Backend, s.store, s.step); err != nil {
		return nil, fmt.Errorf("the training step cannot be built: %w", err)
	}
	defer f.stepper.Finalize()
	b = &Benchmark{Model: c.Model, Graph: g.Name, Config: s.config, Engine: e.Name}
	for epoch := range c.Epochs {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("interrupted after %d of %d epochs", epoch, c.Epochs)
		}
		out, took, err := f.one()
		if err != nil {
			return nil, err
		}
		f.account(out, took)
		b.Loss = Number(tensors.ToScalar[float32](out[outLoss]))
		if epoch == 0 {
			b.FirstLoss = b.Loss
		}
		for _, t := range out {
			t.MustFinalizeAll()
		}
	}
	f.finish()
	r := f.result
	b.Epochs, b.EpochSeconds, b.CompileSeconds, b.PeakRSS, b.Iterations = r.Epochs, r.EpochSeconds, r.CompileSeconds, r.PeakRSS, r.Iterations
	return b, nil
}
