package paper

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/results"
	"github.com/revgnn/revgnn/pkg/train"
)

// Runner makes the runs that items need and lack, one after the other, and records each as soon as it ends.
type Runner struct {
	Scope
	Store *results.Store
	// Engine opens the engine, when the first run needs it, and Load a dataset.
	Engine func() (*engine.Engine, error)
	Load   func(ctx context.Context, name string) (*graphs.Graph, error)
	// Alone runs a task in a process of its own, where its memory can be measured; nil: here.
	Alone func(ctx context.Context, t Task) (results.Record, error)
	// Shard of the work; the zero value is all.
	Shard Shard
	// Starts, if set, is called before each run, Epoch after each epoch of a training, Ended after each run, and NoDataset for
	// a dataset that can't be had, whose runs are left out.
	Starts    func(Progress)
	Epoch     func(t Task, e train.Epoch)
	Ended     func(results.Record)
	NoDataset func(name string, why error)

	engine *engine.Engine
	graphs map[string]*graphs.Graph
	absent map[string]string
}

// Progress is where a [Runner] stands: run Number of Total, with Seconds left by estimate, that of this task included.
type Progress struct {
	Task          Task
	Number, Total int
	Seconds       float64
}

// Plan tells what there is to do for items.
func (r *Runner) Plan(items []Item) (Plan, error) {
	records, err := r.known()
	if err != nil {
		return Plan{}, err
	}
	return plan(r.scope(), records, items, r.Shard), nil
}

// scope adds what was found out about datasets.
func (r *Runner) scope() Scope {
	s := r.Scope
	s.Absent = func(dataset string) string {
		if why := r.absent[dataset]; why != "" {
			return why
		}
		if r.Scope.Absent != nil {
			return r.Scope.Absent(dataset)
		}
		return ""
	}
	return s
}

// known are the latest records by key; of a run that failed and one that did not, the latter.
func (r *Runner) known() (map[string]*results.Record, error) {
	all, err := r.Store.Find(results.Query{Status: []string{results.OK, results.Diverged, results.Failed}})
	if err != nil {
		return nil, err
	}
	byKey := map[string]*results.Record{}
	for i := range all {
		old := byKey[all[i].Key]
		if old == nil || old.Status == results.Failed || all[i].Status != results.Failed {
			byKey[all[i].Key] = &all[i]
		}
	}
	return byKey, nil
}

// Run makes all runs that items need and lack. Settings chosen by earlier runs make new runs necessary: it goes on until there
// are none. Runs that failed in an earlier process are tried again, once. Where ctx is cancelled, the run in flight leaves no
// record, and the error says so; all others are kept.
func (r *Runner) Run(ctx context.Context, items []Item) error {
	tried := map[string]bool{}
	number := 0
	for {
		records, err := r.known()
		if err != nil {
			return err
		}
		for key, record := range records {
			if record.Status == results.Failed && !tried[key] {
				delete(records, key)
			}
		}
		p := plan(r.scope(), records, items, r.Shard)
		next := p.next(tried)
		if next == nil {
			return nil
		}
		number++
		if r.Starts != nil {
			r.Starts(Progress{*next, number, number - 1 + p.Missing, p.Seconds})
		}
		tried[next.key()] = true
		record, err := r.one(ctx, *next)
		if errors.Is(err, errNoDataset) {
			continue
		}
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted in %s; all earlier runs are kept, and the same command goes on from here", next)
		}
		if err != nil {
			return err
		}
		record.Profile = r.Profile.Name
		if _, err := r.Store.Add(record); err != nil {
			return fmt.Errorf("%s could not be recorded: %w", next, err)
		}
		if r.Ended != nil {
			r.Ended(record)
		}
	}
}

// next is the first task to run; nil if there is none.
func (p Plan) next(tried map[string]bool) *Task {
	for _, s := range p.Steps {
		if !s.Done && !s.Provisional && !tried[s.Key] {
			return &s.Task
		}
	}
	return nil
}

var errNoDataset = errors.New("the dataset can't be had")

// one runs a task.
func (r *Runner) one(ctx context.Context, t Task) (record results.Record, err error) {
	if t.Kind == results.Bench && r.Alone != nil {
		return r.Alone(ctx, t)
	}
	g, err := r.graph(ctx, t.Dataset)
	if err != nil {
		return record, err
	}
	if r.engine == nil {
		if r.engine, err = r.Engine(); err != nil {
			return record, err
		}
	}
	place := Place{Engine: r.engine, Graph: g}
	if r.Epoch != nil {
		place.Epoch = func(e train.Epoch) { r.Epoch(t, e) }
	}
	return Execute(ctx, place, t)
}

// graph loads a dataset once; one that can't be had is noted, and its runs are left out.
func (r *Runner) graph(ctx context.Context, name string) (*graphs.Graph, error) {
	if g := r.graphs[name]; g != nil {
		return g, nil
	}
	g, err := r.Load(ctx, name)
	if err != nil {
		if r.absent == nil {
			r.absent = map[string]string{}
		}
		r.absent[name] = "not run: dataset not here (" + err.Error() + ")"
		if r.NoDataset != nil {
			r.NoDataset(name, err)
		}
		return nil, errors.Join(errNoDataset, err)
	}
	if r.graphs == nil {
		r.graphs = map[string]*graphs.Graph{}
	}
	r.graphs[name] = g
	return g, nil
}

// Documents are the items as far as there are records.
func (r *Runner) Documents(items []Item) ([]*Document, error) {
	records, err := r.known()
	if err != nil {
		return nil, err
	}
	return build(newView(r.scope(), records), items), nil
}

// Duration is a number of seconds for people.
func Duration(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d < time.Minute {
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	if d < 2*time.Hour {
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	if d < 48*time.Hour {
		return fmt.Sprintf("%.1f h", d.Hours())
	}
	return fmt.Sprintf("%.0f days", d.Hours()/24)
}
