package paper

import (
	"encoding/json"
	"testing"

	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// fake makes a record of a task without a run. Settings with a higher learning rate get a higher validation metric and
// a lower test metric. A test can therefore tell whether settings were chosen by the validation metric or by the test
// metric.
func fake(t *testing.T, task runs.Task) *runs.Record {
	t.Helper()
	var outcome any
	switch task.Kind {
	case runs.Train:
		lr := task.Config.LearningRate
		o := runs.Trained{Result: train.Result{Split: task.Split, BestEpoch: 1, Epochs: 2,
			Val: train.Number(0.5 + lr), Test: train.Number(0.6 - lr + 0.01*float64(task.Split%2)), Status: train.OK},
			Metric: "accuracy"}
		if task.Config.HasReverse() {
			o.Test += 0.1
		}
		if task.Trace != nil {
			o.Traced = &runs.Traced{}
			layers := func(depth int) (out []runs.Layer) {
				for _, l := range task.Trace.Layers {
					if l <= depth {
						one := runs.Layer{Layer: l, GSL: 0.5}
						for _, p := range task.Trace.Boards {
							one.Boards = append(one.Boards, make([]float64, p.Side*p.Side))
						}
						out = append(out, one)
					}
				}
				return out
			}
			o.Traced.Forward, o.Traced.Reverse = layers(task.Config.Forward), layers(task.Config.Reverse)
			for _, p := range task.Trace.Boards {
				o.Traced.Boards = append(o.Traced.Boards,
					runs.Board{Part: p, Mines: make([]float64, p.Side*p.Side),
						Probability: make([]float64, p.Side*p.Side)})
			}
		}
		outcome = o
	case runs.Invert:
		outcome = train.Inversion{MeanAbsError: 3e-7, MeanAbsInput: 0.1,
			Residual: []train.Number{1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9}}
	case runs.Bench:
		outcome = runs.Timed{Benchmark: train.Benchmark{EpochSeconds: 0.01 * float64(task.Config.Hidden),
			PeakRSS: 4e8 + 1e6*int64(task.Config.Hidden)}, IdleRSS: 4e8}
	case runs.Measure:
		g := runs.SizeOf(task.Dataset)
		outcome = metrics.Stats{Name: task.Dataset, Nodes: g.Nodes, Edges: g.Edges}
	}
	return recorded(t, task, outcome)
}

// refused is the outcome of a run that failed, but did not diverge.
type refused struct{}

// recorded makes a record of the task with the given outcome. If the outcome is nil, the record says that the run
// diverged. If it is refused, the record says that the run failed for lack of memory.
func recorded(t *testing.T, task runs.Task, outcome any) *runs.Record {
	t.Helper()
	r := runs.Begin(task.Kind)
	text, err := json.Marshal(outcome)
	if err != nil {
		t.Fatal(err)
	}
	id := runs.Key(map[string]any{"fake": task.Key()})
	r.ID, r.Key, r.Dataset, r.Model, r.Split, r.Seed, r.Status, r.Outcome, r.Engine = id[:14], task.Key(), task.Dataset,
		task.Config.Model, task.Split, task.Config.Seed+uint64(max(0, task.Split)), runs.OK, text, "xla:cpu"
	if outcome == nil {
		r.Status, r.Message, r.Outcome = runs.Diverged, "epoch 3: not finite", nil
	}
	if outcome == (refused{}) {
		r.Status, r.Message, r.Outcome = runs.Failed, "it needs 90 GiB of memory", nil
	}
	return &r
}

// allRuns makes fake records of all runs that the items ask for.
func allRuns(t *testing.T, s runs.Scope, p Profile, items []Item) runs.Records {
	t.Helper()
	return runsOf(t, s, Work(p, items), func(task runs.Task) *runs.Record { return fake(t, task) })
}

// runsOf makes a record of every run that work asks for. The argument called of is a function that returns the record
// of a task. There are several rounds, since the settings of some runs are chosen from the records of other runs. So
// work can ask for such runs only in a later round.
func runsOf(t *testing.T, s runs.Scope, work runs.Work,
	of func(runs.Task) *runs.Record) runs.Records {
	t.Helper()
	records := runs.Records{}
	for {
		v := runs.NewView(s, records)
		work(v)
		missing := 0
		for _, step := range v.Steps() {
			if !step.Done {
				missing++
			}
			if !step.Done && !step.Provisional {
				records[step.Key] = of(step.Task)
			}
		}
		if missing == 0 {
			return records
		}
	}
}

// documents makes the documents of all items from the given records.
func documents(s runs.Scope, p Profile, records runs.Records) []*Document {
	return build(&View{runs.NewView(s, records), p}, Items())
}
