package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/machine"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
)

// ErrInterrupted is the error of a run that was interrupted, which leaves no record.
var ErrInterrupted = errors.New("interrupted")

// Place has what is needed to run a task.
type Place struct {
	Engine *engine.Engine
	Graph  *graphs.Graph
	// Alone tells that no other task has run in this process: its memory is that of the task.
	Alone bool
	// As in [train.Options]; Until is for the kind [Search].
	Until      int
	Epoch      func(train.Epoch)
	Checkpoint *train.Checkpoint
	Notice     func(text string)
}

// Execute runs a task and returns the record of the run, which the caller stores; a run that diverges or fails has one,
// too. It returns an error if the run was interrupted, or if the settings or results cannot be written as JSON.
func Execute(ctx context.Context, p Place, t Task) (Record, error) {
	r, out, err := p.Make(ctx, t)
	if out != nil && err == nil {
		if r.Outcome, err = json.Marshal(out); err != nil {
			err = fmt.Errorf("%s: its outcome cannot be recorded: %w", t, err)
		}
	}
	return r, err
}

// Make is [Execute], but leaves the outcome out of the record. It is nil if the run failed.
func (p Place) Make(ctx context.Context, t Task) (r Record, outcome any, err error) {
	if r, err = Start(t, models.Seen(t.Config.Config, p.Graph).Checksum(), p.Engine.Name); err != nil {
		return r, nil, err
	}
	r.Key = t.Key()
	outcome, status, message, err := p.run(ctx, t)
	r.Seconds = time.Since(r.Started).Seconds()
	if trained, ok := outcome.(Trained); ok {
		r.Seconds = max(r.Seconds, trained.Seconds) // trained.Seconds includes the time before an interruption
	}
	switch {
	case ctx.Err() != nil || status == train.Interrupted:
		return r, nil, ErrInterrupted
	case err != nil:
		r.Status, r.Message = Failed, err.Error()
		return r, nil, nil
	}
	r.Status, r.Message = status, message
	return r, outcome, nil
}

func (p Place) run(ctx context.Context, t Task) (out any, status, message string, err error) {
	switch t.Kind {
	case Train, Search:
		return p.train(ctx, t)
	case Invert:
		out, err = train.Invert(ctx, p.Engine, p.Graph, t.Config)
	case Bench:
		out, err = p.time(ctx, t)
	case Measure:
		out = metrics.GraphStats(p.Graph)
	default:
		err = fmt.Errorf("there is no work of the kind %q", t.Kind)
	}
	return out, OK, "", err
}

// time makes a benchmark.
func (p Place) time(ctx context.Context, t Task) (*Timed, error) {
	// [Timed.Own] subtracts the idle memory from the peak. What loading the graph has freed must not count as idle,
	// since the benchmark can use it: it goes back to the system first.
	debug.FreeOSMemory()
	os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // on Linux, this resets the peak of the process's memory
	idle := machine.ResidentSet()
	b, err := train.Bench(ctx, p.Engine, p.Graph, t.Config, nil)
	if err != nil {
		return nil, err
	}
	out := &Timed{Benchmark: *b}
	if p.Alone {
		// Benchmark's peak is that of getrusage, which may include the process that started this one.
		out.IdleRSS, out.PeakRSS = idle, machine.PeakResidentSet()
	}
	return out, nil
}

func (p Place) train(ctx context.Context, t Task) (any, string, string, error) {
	r, err := train.Fit(ctx, p.Engine, p.Graph, t.Split, t.Config,
		&train.Options{Until: p.Until, Epoch: p.Epoch, Checkpoint: p.Checkpoint, Notice: p.Notice})
	if err != nil {
		return nil, "", "", err
	}
	out := Trained{Result: *r, Metric: train.Metric(p.Graph)}
	if t.Follow != nil && r.Status == train.OK && r.BestEpoch > 0 {
		trajectory, err := train.Trace(p.Engine, p.Graph, t.Split, t.Config, r.Weights, t.Follow.Layers)
		if err != nil {
			return nil, "", "", err
		}
		out.Followed = condense(trajectory, t.Follow.Boards, p.Graph)
	}
	return out, r.Status, r.Message, nil
}
