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

// errInterrupted is the error of a run that was interrupted. Such a run leaves no record.
var errInterrupted = errors.New("interrupted")

// Place has what is needed to run a task: the engine, the graph and, for a training, a checkpoint and functions to call
// during the training.
type Place struct {
	Engine *engine.Engine
	Graph  *graphs.Graph
	// Alone tells that no other task has run in this process. The memory of the process is then that of the task.
	Alone bool
	// Epoch, Checkpoint and Notice are passed on to trainings; see the fields of the same names in [train.Options].
	Epoch      func(train.Epoch)
	Checkpoint *train.Checkpoint
	Notice     func(text string)
}

// Execute runs a task and returns the record of the run. The caller must store this record. If the run diverges or
// fails, there is also a record, and the status in the record says what happened. Execute returns an error if the run
// was interrupted, or if the settings or the results cannot be written as JSON.
func Execute(ctx context.Context, p Place, t Task) (Record, error) {
	r, err := Start(t, models.Seen(t.Config.Config, p.Graph).Checksum(), p.Engine.Name)
	if err != nil {
		return r, err
	}
	r.Key = t.Key()
	out, status, message, err := p.run(ctx, t)
	r.Seconds = time.Since(r.Started).Seconds()
	if trained, ok := out.(Trained); ok {
		r.Seconds = max(r.Seconds, trained.Seconds) // trained.Seconds includes the time before an interruption
	}
	switch {
	case ctx.Err() != nil || status == train.Interrupted:
		return r, errInterrupted
	case err != nil:
		r.Status, r.Message = Failed, err.Error()
		return r, nil
	}
	r.Status, r.Message = status, message
	if r.Outcome, err = json.Marshal(out); err != nil {
		return r, fmt.Errorf("%s: its outcome cannot be recorded: %w", t, err)
	}
	return r, nil
}

// run does the task's work. It returns the outcome, the status, and a message about the status.
func (p Place) run(ctx context.Context, t Task) (out any, status, message string, err error) {
	switch t.Kind {
	case Train:
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

// time makes a benchmark: it measures the time and the memory of training steps.
func (p Place) time(ctx context.Context, t Task) (*Timed, error) {
	// The variable idle is the memory of the process before the benchmark. [Timed.Own] subtracts it from the peak, to
	// get the memory of the benchmark alone. Loading the graph used memory that is free now. This free memory must not
	// count in idle, since the benchmark can use it. It is therefore returned to the operating system first.
	debug.FreeOSMemory()
	os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // on Linux, this resets the peak of the process's memory
	idle := machine.ResidentSet()
	b, err := train.Bench(ctx, p.Engine, p.Graph, t.Config, nil)
	if err != nil {
		return nil, err
	}
	out := &Timed{Benchmark: *b}
	if p.Alone {
		// The peak memory in Benchmark comes from the system call getrusage, and may include memory of the process that
		// started this one. It is replaced by the peak memory of this process alone.
		out.IdleRSS, out.PeakRSS = idle, machine.PeakResidentSet()
	}
	return out, nil
}

// train trains the task's model. If the task asks for states ([Task.Follow]), train then computes these states with the
// trained model.
func (p Place) train(ctx context.Context, t Task) (any, string, string, error) {
	r, err := train.Fit(ctx, p.Engine, p.Graph, t.Split, t.Config,
		&train.Options{Epoch: p.Epoch, Checkpoint: p.Checkpoint, Notice: p.Notice})
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
