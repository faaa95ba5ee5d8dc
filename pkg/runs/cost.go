package runs

import (
	"encoding/json"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/train"
)

// Cost is the estimated cost of a run.
type Cost struct {
	// Seconds is the time of the run. It is estimated from recorded runs of the same program on this machine. If there
	// are no such runs, Seconds is 0.
	Seconds float64 `json:"seconds,omitempty"`
	// Bytes is the memory that the run needs, in bytes. A record has the peak memory of a whole process. Earlier runs
	// in this process may have raised the peak. Therefore Bytes is the smallest peak in all records of the same
	// program. If there is no such record, Bytes is only a lower bound, computed by [train.Least], and AtLeast is true.
	Bytes   int64 `json:"bytes"`
	AtLeast bool  `json:"bytes_at_least,omitempty"`
}

// Costs has the times and the memory of recorded runs. The runs are grouped by their programs ([Task.program]).
type Costs struct {
	machine  Machine
	programs map[string][]run
}

// run has what a record tells about the cost of a run. The last four fields are read from the outcome in the record:
// the number of epochs, the seconds of one epoch, the seconds of compiling, and the peak memory in bytes.
type run struct {
	here    bool // made on this machine
	kind    string
	limit   int // the largest number of epochs allowed
	seconds float64
	Epochs  int     `json:"epochs"`
	Epoch   float64 `json:"epoch_seconds"`
	Compile float64 `json:"compile_seconds"`
	Peak    int64   `json:"peak_rss_bytes"`
}

// without lists the settings whose values do not change the compiled program. [Task.program] leaves these values out of
// its key. (The program does depend on whether dropout is 0. The key has a separate entry for this.)
var without = []string{"lr", "dropout", "weight_decay", "seed", "epochs", "patience"}

// trains tells whether runs of the given kind make training steps.
func trains(kind string) bool {
	return kind == Train || kind == Bench || kind == Search
}

// program returns a key that is equal for tasks that run the same compiled program on the same graph. Trainings,
// benchmarks and trials of searches share programs, since they make the same training steps.
func (t Task) program() string {
	kind, values := t.Kind, map[string]any{}
	if trains(kind) {
		kind = Train
	}
	if kind != Measure {
		values = t.Config.Resolved().Values()
	}
	// A model with dropout has a second program, for evaluation without dropout. If dropout is 0, there is no second
	// program. The key therefore says whether dropout is above 0.
	dropout, _ := values["dropout"].(float64)
	for _, key := range without {
		delete(values, key)
	}
	values["drops"] = dropout > 0
	key, err := Key(map[string]any{"kind": kind, "dataset": t.Dataset, "settings": values})
	if err != nil {
		panic(err) // a task is plain data, which can always be written as JSON
	}
	return key
}

// NewCosts returns the costs of recorded runs on the engine with the given name; an empty name stands for any engine.
// It ignores runs that went wrong, runs on a machine with another GPU than this machine has, and unreadable records.
func NewCosts(records []Record, engine string) *Costs {
	c := &Costs{Begin(Measure).Machine, map[string][]run{}}
	for i := range records {
		r := &records[i]
		t, err := taskOf(r)
		other := engine != "" && r.Kind != Measure && r.Engine != engine
		if err != nil || other || r.Status != OK || r.Machine.GPU != c.machine.GPU {
			continue
		}
		one := run{here: r.Machine.Same(c.machine), kind: r.Kind, limit: t.Config.Epochs, seconds: r.Seconds}
		if trains(r.Kind) {
			if err := json.Unmarshal(r.Outcome, &one); err != nil || one.Epochs == 0 {
				continue
			}
		}
		c.programs[t.program()] = append(c.programs[t.program()], one)
	}
	return c
}

// Of estimates a task's cost. ([Cost] says how the memory is estimated.) For the time, each recorded run of the same
// program on this machine gives one estimate, and Of takes the median of these estimates. The kind of the task decides
// which runs are used, and how:
//
//   - For a training, recorded trainings are used. The estimate takes into account that trainings may stop early.
//   - For a training, if no training of the same program is recorded, recorded benchmarks and recorded trials of
//     searches are used. The estimate is the recorded time of compiling, plus the recorded time of one training step
//     for each epoch of the task.
//   - For a benchmark or a trial of a search, recorded trainings, benchmarks and trials are used. The estimate is again
//     the time of compiling, plus the time of one training step for each epoch of the task.
//   - For a task of any other kind, recorded runs of this kind are used. The estimate is the time that the run took.
func (c *Costs) Of(t Task) Cost {
	var whole, steps []float64
	out := Cost{Bytes: train.Least(SizeOf(t.Dataset), t.Config), AtLeast: true}
	for _, r := range c.programs[t.program()] {
		if r.Peak > 0 && (out.AtLeast || r.Peak < out.Bytes) {
			out.Bytes, out.AtLeast = r.Peak, false
		}
		switch {
		case !r.here:
		case r.kind == t.Kind && (t.Kind == Train || !trains(t.Kind)):
			whole = append(whole, r.of(t))
		case r.Epochs > 0:
			steps = append(steps, r.Compile+float64(t.Config.Epochs)*r.Epoch)
		}
	}
	switch {
	case len(whole) > 0:
		out.Seconds = metrics.Median(whole)
	case len(steps) > 0:
		out.Seconds = metrics.Median(steps)
	}
	return out
}

// of estimates a task's time from the recorded run r of the same kind and program. If r is a training that stopped
// early, the task is expected to stop at the same epoch.
func (r run) of(t Task) float64 {
	if t.Kind != Train {
		return r.seconds
	}
	epochs := t.Config.Epochs
	if t.Config.Patience > 0 && r.Epochs < r.limit {
		epochs = min(epochs, r.Epochs)
	}
	return r.Compile + (r.seconds-r.Compile)*float64(epochs)/float64(r.Epochs)
}

// SizeOf returns a dataset's size without loading the dataset. If the size is not known, SizeOf returns the zero value.
func SizeOf(dataset string) train.Size {
	if nodes, edges, ok := isRandom(dataset); ok {
		return train.Size{Nodes: nodes, Edges: edges, Features: randomFeatures, Classes: 2}
	}
	sets, _ := data.Datasets() // cannot fail: the list is part of the executable
	for _, d := range sets {
		if s := d.Statistics; d.Name == data.Base(dataset) {
			return train.Size{Nodes: s.Nodes, Edges: s.Edges, Features: s.Features, Classes: s.Classes}
		}
	}
	return train.Size{}
}

// timed returns the benchmark that times a few training steps of a task's program.
func timed(t Task) Task {
	const steps = 3 // the time of the first step is not counted
	t.Kind, t.Split, t.Follow = Bench, NoSplit, nil
	t.Config.Epochs = steps
	return t
}
