package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/machine"
	"github.com/revgnn/revgnn/pkg/train"
)

// Task says what one run does.
type Task struct {
	Kind    string       `json:"kind"`
	Dataset string       `json:"dataset"`
	Config  train.Config `json:"config"`
	// Split is [NoSplit] except for trainings.
	Split int `json:"split"`
	// Trace asks a training for numbers about states of the trained model: the features of all nodes after a number of
	// layers.
	Trace *Trace `json:"follow,omitempty"`
}

// Trace selects states of a trained model; see [Traced].
type Trace struct {
	// The entry 8 selects the states after 8 forward layers and after 8 reverse layers. Entries above the depth are
	// ignored.
	Layers []int `json:"layers"`
	// Boards are parts of a Minesweeper board, for whose cells the probabilities of mines are recorded.
	Boards []Part `json:"boards,omitempty"`
}

// Part is a square of Side rows and columns of a Minesweeper board with Width columns, whose cells are nodes, numbered
// row by row. Row and Col are those of its first cell, counted from 0.
type Part struct {
	Row   int `json:"row"`
	Col   int `json:"col"`
	Side  int `json:"side"`
	Width int `json:"width"`
}

func (p Part) nodes() []int {
	var out []int
	for r := range p.Side {
		for c := range p.Side {
			out = append(out, (p.Row+r)*p.Width+p.Col+c)
		}
	}
	return out
}

// Training returns the task that trains a model on a split of a dataset.
func Training(dataset string, split int, c train.Config) Task {
	return Task{Kind: Train, Dataset: dataset, Config: c.Resolved(), Split: split}
}

// Whole returns a task that uses a whole graph instead of a split, such as a benchmark.
func Whole(kind, dataset string, c train.Config) Task {
	return Task{Kind: kind, Dataset: dataset, Config: c, Split: NoSplit}
}

// Key is equal for tasks that do the same: only settings that the model has are part of it. The engine is not, since it
// changes only the last digits of results (docs/repeating.md).
func (t Task) Key() string {
	definition := map[string]any{"kind": t.Kind, "dataset": t.Dataset, "split": t.Split}
	if t.Config.Model != "" {
		definition["config"] = t.Config.Resolved().Values()
	}
	if t.Trace != nil {
		definition["follow"] = Trace{train.Within(t.Trace.Layers, max(t.Config.Forward, t.Config.Reverse)),
			t.Trace.Boards}
	}
	return Key(definition)
}

func (t Task) alone() Task {
	t.Trace = nil
	return t
}

// taskOf returns the task of a record. Its Trace is that of the states in the outcome.
func taskOf(r *Record) (t Task, err error) {
	t = Task{Kind: r.Kind, Dataset: r.Dataset, Split: r.Split}
	if len(r.Config) > 0 {
		if err := json.Unmarshal(r.Config, &t.Config); err != nil {
			return t, fmt.Errorf("the settings of run %s can't be read: %w", r.ID, err)
		}
	}
	if r.Kind != Train || len(r.Outcome) == 0 {
		return t, nil
	}
	var o struct {
		Traced *Traced `json:"followed"`
	}
	if err := json.Unmarshal(r.Outcome, &o); err != nil {
		return t, fmt.Errorf("the outcome of run %s can't be read: %w", r.ID, err)
	}
	if f := o.Traced; f != nil {
		t.Trace = &Trace{}
		for _, l := range slices.Concat(f.Forward, f.Reverse) {
			t.Trace.Layers = append(t.Trace.Layers, l.Layer)
		}
		for _, b := range f.Boards {
			t.Trace.Boards = append(t.Trace.Boards, b.Part)
		}
	}
	return t, nil
}

func (t Task) String() string {
	switch t.Kind {
	case Train:
		return fmt.Sprintf("%s %s on %s, split %d", t.Config.Model, t.Config.Depth(), t.Dataset, t.Split)
	case Invert:
		return fmt.Sprintf("inversion of %s on %s", t.Config.Model, t.Dataset)
	case Bench:
		sizes := ""
		if t.Config.MaxIterations > 0 {
			sizes = fmt.Sprintf(", M = %d", t.Config.MaxIterations)
		}
		return fmt.Sprintf("timing of %s %s, d = %d%s, on %s", t.Config.Model, t.Config.Depth(), t.Config.Hidden,
			sizes, t.Dataset)
	}
	return "statistics of " + t.Dataset
}

// Trained is the outcome of a training.
type Trained struct {
	train.Result
	// Trainings of a [Sweep] have the Details, others the Metric, and the Traced states if their task asks for them.
	Metric  string         `json:"metric,omitempty"`
	Traced  *Traced        `json:"followed,omitempty"`
	Details *train.Details `json:"details,omitempty"`
}

// Traced has a few numbers about states of a trained model, after forward and after reverse layers; whole states are
// too large for a record.
type Traced struct {
	Forward []Layer `json:"forward"`
	Reverse []Layer `json:"reverse,omitempty"`
	Boards  []Board `json:"boards,omitempty"`
}

// Layer describes the state after a number of layers: the smoothness of its features ([metrics.Smoothness]) and, for
// each of [Trace.Boards], the probability of a mine in each cell, which the model's head computes from this state.
type Layer struct {
	Layer  int          `json:"layer"`
	GSL    train.Number `json:"gsl"`
	Boards [][]float64  `json:"boards,omitempty"`
}

// Board is a part of a Minesweeper board: 1 for a mine and 0 for none, and the probability that the whole model gives.
type Board struct {
	Part
	Mines       []float64 `json:"mines"`
	Probability []float64 `json:"probability"`
}

// Timed is the outcome of a benchmark. IdleRSS is the resident set before it began, in bytes, or 0 if the process may
// have run other tasks before: its peak may then be of another task.
type Timed struct {
	train.Benchmark
	IdleRSS int64 `json:"idle_rss_bytes,omitempty"`
}

// Own returns the memory that the benchmark itself took, in bytes; 0 if it is not known.
func (t Timed) Own() float64 {
	if t.IdleRSS == 0 {
		return 0
	}
	return float64(t.PeakRSS - t.IdleRSS)
}

func condense(t *train.Trajectory, boards []Part, g *graphs.Graph) *Traced {
	layers := func(states []train.State) []Layer {
		out := make([]Layer, len(states))
		for i, s := range states {
			out[i] = Layer{Layer: s.Layer, GSL: train.Number(rounded(float64(s.GSL), 5))}
			for _, p := range boards {
				out[i].Boards = append(out[i].Boards, pick(s.Probability, p.nodes()))
			}
		}
		return out
	}
	f := &Traced{Forward: layers(t.Forward), Reverse: layers(t.Reverse)}
	mines := make([]float64, len(g.Labels))
	for i, l := range g.Labels {
		mines[i] = float64(l)
	}
	for _, p := range boards {
		f.Boards = append(f.Boards, Board{p, pick(mines, p.nodes()), pick(t.Probability, p.nodes())})
	}
	return f
}

func pick(values []float64, indices []int) []float64 {
	out := make([]float64, len(indices))
	for i, k := range indices {
		out[i] = rounded(values[k], 3)
	}
	return out
}

func rounded(v float64, decimals int) float64 {
	unit := math.Pow(10, float64(decimals))
	return math.Round(v*unit) / unit
}

// Begin returns the record of a run that starts now, on this machine, by this version of revgnn.
func Begin(kind string) Record {
	versions, commit := machine.Built()
	family, model, features := machine.Processor()
	return Record{Kind: kind, Split: NoSplit, Versions: versions, Commit: commit, Started: time.Now().UTC(),
		Machine: Machine{Platform: runtime.GOOS + "/" + runtime.GOARCH, CPU: machine.CPU(), GPU: machine.GPU(),
			Cores: machine.Cores(), Family: family, Model: model, Features: features}}
}

// Start returns the record of a task that starts now: all but its key, its profile and its results. The checksum is
// that of the task's graph as the model reads it ([models.Config.InputGraph]).
func Start(t Task, checksum, engine string) Record {
	r := Begin(t.Kind)
	r.Dataset, r.Checksum, r.Model, r.Engine = t.Dataset, checksum, t.Config.Model, engine
	r.Split, r.Seed = t.Split, t.seed()
	r.Config, _ = json.Marshal(t.Config) // cannot fail for valid settings, and others are refused
	return r
}

// End completes the record of a run that ends now, with its outcome or with the error that it failed with. A run that
// ctx ended is interrupted.
func (r *Record) End(ctx context.Context, outcome any, failed error) (err error) {
	r.Status, r.Seconds = OK, time.Since(r.Started).Seconds()
	switch {
	case failed == nil:
		r.Outcome, err = json.Marshal(outcome)
	case ctx.Err() != nil:
		r.Status, r.Message = Interrupted, failed.Error()
	default:
		r.Status, r.Message = Failed, failed.Error()
	}
	return err
}

// seed returns the seed of the run: another one for each split.
func (t Task) seed() uint64 {
	if t.Split != NoSplit && (t.Kind == Train || t.Kind == Search) {
		return t.Config.Seed + uint64(t.Split)
	}
	return t.Config.Seed
}
