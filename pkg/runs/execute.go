package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"time"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/machine"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/train"
)

// ErrInterrupted is the error of a run that was interrupted, which leaves no record.
var ErrInterrupted = errors.New("interrupted")

// Executor runs tasks on an engine and a graph.
type Executor struct {
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
// too. It returns an error if the run was interrupted, or if the results cannot be written as JSON.
func (x Executor) Execute(ctx context.Context, t Task) (Record, error) {
	r, out, err := x.Make(ctx, t)
	if out != nil && err == nil {
		if r.Outcome, err = json.Marshal(out); err != nil {
			err = fmt.Errorf("%s: its outcome cannot be recorded: %w", t, err)
		}
	}
	return r, err
}

// Make is [Executor.Execute], but leaves the outcome out of the record. It is nil if the run failed.
func (x Executor) Make(ctx context.Context, t Task) (r Record, outcome any, err error) {
	r = Start(t, t.Config.InputGraph(x.Graph).Checksum(), x.Engine.Name)
	r.Key = t.Key()
	outcome, r.Status, r.Message, err = x.run(ctx, t)
	r.Seconds = time.Since(r.Started).Seconds()
	if trained, ok := outcome.(Trained); ok {
		r.Seconds = max(r.Seconds, trained.Seconds) // trained.Seconds includes the time before an interruption
	}
	switch {
	case ctx.Err() != nil || r.Status == train.Interrupted:
		return r, nil, ErrInterrupted
	case err != nil:
		r.Status, r.Message = Failed, err.Error()
		return r, nil, nil
	}
	return r, outcome, nil
}

func (x Executor) run(ctx context.Context, t Task) (out any, status, message string, err error) {
	switch t.Kind {
	case Train, Search:
		return x.train(ctx, t)
	case Invert:
		out, err = train.Invert(ctx, x.Engine, x.Graph, t.Config)
	case Bench:
		out, err = x.time(ctx, t)
	case Measure:
		out = metrics.GraphStats(x.Graph)
	default:
		err = fmt.Errorf("there is no work of the kind %q", t.Kind)
	}
	return out, OK, "", err
}

func (x Executor) time(ctx context.Context, t Task) (*Timed, error) {
	// [Timed.Own] subtracts the idle memory from the peak: what loading the graph has freed goes back to the system.
	debug.FreeOSMemory()
	os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // on Linux, this resets the peak of the process's memory
	idle := machine.ResidentSet()
	b, err := train.Bench(ctx, x.Engine, x.Graph, t.Config, nil)
	if err != nil {
		return nil, err
	}
	out := &Timed{Benchmark: *b}
	if x.Alone {
		// Benchmark's peak is that of getrusage, which may include the process that started this one.
		out.IdleRSS, out.PeakRSS = idle, machine.PeakResidentSet()
	}
	return out, nil
}

func (x Executor) train(ctx context.Context, t Task) (any, string, string, error) {
	r, err := train.Fit(ctx, x.Engine, x.Graph, t.Split, t.Config,
		&train.Options{Until: x.Until, Epoch: x.Epoch, Checkpoint: x.Checkpoint, Notice: x.Notice})
	if err != nil {
		return nil, "", "", err
	}
	out := Trained{Result: *r, Metric: train.Metric(t.Config, x.Graph).Name}
	out.Measures = train.Measures{} // which would make thousands of records larger
	if t.Trace != nil && r.Status == train.OK && r.BestEpoch > 0 {
		trajectory, err := train.Trace(x.Engine, x.Graph, t.Split, t.Config, r.Weights, t.Trace.Layers)
		if err != nil {
			return nil, "", "", err
		}
		out.Traced = condense(trajectory, t.Trace.Boards, x.Graph)
	}
	return out, r.Status, r.Message, nil
}

// InOwnProcess runs a task in a process of its own, whose memory is then that of the task, and returns the record that
// it writes to stdout as JSON; the process must call [ExecuteAlone]. There are two, one after the other: the first
// compiles the program, which takes memory; the second loads it, and counts. Command is given the path of the running
// executable and the task as JSON.
func InOwnProcess(ctx context.Context, t Task,
	command func(self, task string) *exec.Cmd) (record Record, err error) {
	self, err := os.Executable()
	if err != nil {
		return record, fmt.Errorf("this program can't find itself to time %s: %w", t, err)
	}
	text, err := json.Marshal(t)
	if err != nil {
		return record, err
	}
	for range 2 {
		out, err := command(self, string(text)).Output()
		if err != nil {
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
			}
			return record, fmt.Errorf("timing %s: %w", t, err)
		}
		if err := json.Unmarshal(out, &record); err != nil {
			return record, fmt.Errorf("timing %s: its record can't be read: %w", t, err)
		}
	}
	return record, nil
}

// ExecuteAlone is what the process that [InOwnProcess] starts does.
func ExecuteAlone(ctx context.Context, t Task, engineName string,
	load func(ctx context.Context, name string) (*graphs.Graph, error)) (record Record, err error) {
	g, err := load(ctx, t.Dataset)
	if err != nil {
		return record, err
	}
	e, err := engine.Open(engineName)
	if err != nil {
		return record, err
	}
	return Executor{Engine: e, Graph: g, Alone: true}.Execute(ctx, t)
}

const randomName = "random:nodes=%d,edges=%d"

const randomFeatures = 8

// RandomGraph returns the name of a random graph, which [Load] makes.
func RandomGraph(nodes, edges int) string { return fmt.Sprintf(randomName, nodes, edges) }

// Load is [datasets.Load], and makes the graphs that [RandomGraph] names.
func Load(ctx context.Context, name string, o datasets.Options) (*graphs.Graph, error) {
	if nodes, edges, ok := isRandom(name); ok {
		return randomGraph(name, nodes, edges)
	}
	return datasets.Load(ctx, name, o)
}

func isRandom(name string) (nodes, edges int, ok bool) {
	n, err := fmt.Sscanf(name, randomName, &nodes, &edges)
	return nodes, edges, err == nil && n == 2
}

// randomGraph joins random pairs of nodes, for measurements in which the numbers of nodes and edges vary separately. It
// has two classes; the first half of the nodes is for training.
func randomGraph(name string, nodes, edges int) (*graphs.Graph, error) {
	if nodes < 4 || edges < 1 || edges > nodes*(nodes-1)/4 {
		return nil, fmt.Errorf("%s: choose at least 4 nodes, and at most half of the edges that they can have", name)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	seen := map[graphs.Edge]bool{}
	list := make([]graphs.Edge, 0, edges)
	for len(list) < edges {
		a, b := int32(rng.IntN(nodes)), int32(rng.IntN(nodes))
		if e := (graphs.Edge{min(a, b), max(a, b)}); a != b && !seen[e] {
			seen[e] = true
			list = append(list, e)
		}
	}
	features := make([]float32, nodes*randomFeatures)
	for i := range features {
		features[i] = float32(rng.NormFloat64())
	}
	labels := make([]int32, nodes)
	split := graphs.Split{Train: make([]bool, nodes), Val: make([]bool, nodes), Test: make([]bool, nodes)}
	for i := range labels {
		labels[i] = int32(i % 2)
		*[]*bool{&split.Train[i], &split.Train[i], &split.Val[i], &split.Test[i]}[4*i/nodes] = true
	}
	return graphs.New(name, nodes, list, features, randomFeatures, labels, 2, []graphs.Split{split})
}
