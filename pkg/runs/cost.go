package runs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/train"
)

type Cost struct {
	// Seconds is estimated from runs of the same program on this machine; 0 if there are none.
	Seconds float64 `json:"seconds,omitempty"`
	// Bytes is the smallest peak in all records of the program: a peak is that of a whole process, and earlier runs may
	// have raised it. Without records it is only a lower bound ([train.Least]), and AtLeast is true.
	Bytes   int64 `json:"bytes"`
	AtLeast bool  `json:"bytes_at_least,omitempty"`
}

// Costs has the times and the memory of recorded runs, grouped by [Task.program].
type Costs struct {
	Machine  Machine // this machine
	engine   string
	programs map[string][]run
}

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

// without lists the settings that do not change the compiled program. (Whether dropout is 0 does: see program.)
var without = []string{"lr", "dropout", "weight_decay", "seed", "epochs", "patience", "metric", "warmup"}

func trains(kind string) bool {
	return kind == Train || kind == Bench || kind == Search
}

// program returns a key that is equal for tasks that run the same compiled program on the same graph, such as
// trainings, benchmarks and trials of searches.
func (t Task) program() string {
	kind, values := t.Kind, map[string]any{}
	if trains(kind) {
		kind = Train
	}
	if kind != Measure {
		values = t.Config.Resolved().Values()
	}
	// A model with dropout has a second program, for evaluation without it.
	dropout, _ := values["dropout"].(float64)
	for _, key := range without {
		delete(values, key)
	}
	values["drops"] = dropout > 0
	return Key(map[string]any{"kind": kind, "dataset": t.Dataset, "settings": values})
}

// NewCosts returns the costs of recorded runs on an engine, or on any if its name is empty. Runs that went wrong, on
// another GPU than this machine's, and unreadable records do not count.
func NewCosts(records []Record, engine string) *Costs {
	c := &Costs{Begin(Measure).Machine, engine, map[string][]run{}}
	for i := range records {
		if t, err := taskOf(&records[i]); err == nil {
			c.add(t, &records[i])
		}
	}
	return c
}

func (c *Costs) add(t Task, r *Record) {
	other := c.engine != "" && r.Kind != Measure && r.Engine != c.engine
	if other || r.Status != OK || r.Machine.GPU != c.Machine.GPU {
		return
	}
	one := run{here: r.Machine.Same(c.Machine), kind: r.Kind, limit: t.Config.Epochs, seconds: r.Seconds}
	if trains(r.Kind) {
		if err := json.Unmarshal(r.Outcome, &one); err != nil || one.Epochs == 0 {
			return
		}
	}
	program := t.program()
	c.programs[program] = append(c.programs[program], one)
}

// Of estimates a task's cost: for the time, the median over the recorded runs of its kind and program on this machine.
// For a training without any, and for benchmarks and trials, it is the time of compiling plus an epoch's time for each
// epoch, from runs of all these kinds.
func (c *Costs) Of(t Task) Cost {
	var whole, steps []float64
	out := Cost{Bytes: train.Least(SizeOf(t.Dataset), t.Config), AtLeast: true}
	for _, r := range c.programs[t.program()] {
		if r.Peak > 0 && (out.AtLeast || r.Peak < out.Bytes) {
			out.Bytes, out.AtLeast = r.Peak, false
		}
		epochs := t.Config.Epochs
		switch {
		case !r.here:
		case r.kind == Train && t.Kind == Train:
			if t.Config.Patience > 0 && r.Epochs < r.limit { // it stopped early, and t is expected to stop there, too
				epochs = min(epochs, r.Epochs)
			}
			whole = append(whole, r.Compile+(r.seconds-r.Compile)*float64(epochs)/float64(r.Epochs))
		case r.kind == t.Kind && !trains(t.Kind):
			whole = append(whole, r.seconds)
		case r.Epochs > 0:
			steps = append(steps, r.Compile+float64(epochs)*r.Epoch)
		}
	}
	if len(whole) == 0 {
		whole = steps
	}
	if len(whole) > 0 {
		out.Seconds = metrics.Median(whole)
	}
	return out
}

// SizeOf returns a dataset's size without loading it; the zero value if it is not known.
func SizeOf(dataset string) train.Size {
	if nodes, edges, ok := isRandom(dataset); ok {
		return train.Size{Nodes: nodes, Edges: edges, Features: randomFeatures, Classes: 2}
	}
	for _, d := range data.Datasets() {
		if s := d.Statistics; d.Name == data.Base(dataset) {
			return train.Size{Nodes: s.Nodes, Edges: s.Edges, Features: s.Features, Classes: s.Classes}
		}
	}
	return train.Size{}
}

// Shard is part Index, counted from 1, of the work divided into Count parts. The zero value is all of it.
type Shard struct{ Index, Count int }

// ParseShard reads a shard such as "2/4". An empty text stands for all of the work.
func ParseShard(text string) (s Shard, err error) {
	if text == "" {
		return s, nil
	}
	n, err := fmt.Sscanf(text+" ", "%d/%d ", &s.Index, &s.Count)
	if n != 2 || err != nil || s.Index < 1 || s.Index > s.Count || text != fmt.Sprintf("%d/%d", s.Index, s.Count) {
		return Shard{}, fmt.Errorf("shard is %q: write i/n with i from 1 to n, for example 2/4", text)
	}
	return s, nil
}

// groups returns the groups of runs of the shard; nil stands for all. From the largest on, each goes to the shard with
// the least work so far. Neither records nor a machine's datasets matter, so that all machines come to the same.
func (s Shard) groups(scope Scope, work Work) map[string]bool {
	if s.Count <= 1 {
		return nil
	}
	scope.Absent = nil
	v := NewView(scope, nil)
	work(v)
	size := map[string]float64{}
	for _, step := range v.steps {
		size[step.Group] += step.Size()
	}
	names := slices.SortedFunc(maps.Keys(size), func(a, b string) int {
		return cmp.Or(cmp.Compare(size[b], size[a]), cmp.Compare(a, b))
	})
	load, mine := make([]float64, s.Count), map[string]bool{}
	for _, name := range names {
		least := slices.Index(load, slices.Min(load))
		load[least] += size[name]
		if least == s.Index-1 {
			mine[name] = true
		}
	}
	return mine
}

// Size is a coarse measure of a task's work, only to compare tasks: about the number of values that all layers compute
// for nodes and edges, times the number of epochs.
func (t Task) Size() float64 {
	g, c := SizeOf(t.Dataset), t.Config
	size := float64(1+g.Nodes+2*g.Edges) * float64(max(1, c.Hidden)) * float64(max(1, c.Forward+c.Reverse))
	if trains(t.Kind) {
		size *= float64(max(1, c.Epochs))
	}
	return size
}

// Pace tells how long the epochs of a training take.
type Pace struct {
	start time.Time
	first int
}

// At is called after each epoch. It returns the mean time of the epochs so far in this process in seconds, and their
// number, without the first one, which takes longer; as long as there are no others, the time of the first.
func (p *Pace) At(e train.Epoch) (seconds float64, epochs int) {
	if p.first == 0 {
		p.start, p.first = time.Now(), e.Epoch
		return e.Seconds, 0
	}
	epochs = e.Epoch - p.first
	return time.Since(p.start).Seconds() / float64(epochs), epochs
}

// Duration writes a number of seconds as text, such as "12 s" or "3 min".
func Duration(seconds float64) string {
	switch d := time.Duration(seconds * float64(time.Second)); {
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	case d < 48*time.Hour:
		return fmt.Sprintf("%.1f h", d.Hours())
	default:
		return fmt.Sprintf("%.0f days", d.Hours()/24)
	}
}
