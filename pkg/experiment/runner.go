package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/results"
	"github.com/revgnn/revgnn/pkg/train"
)

// Runner makes the runs that a [Work] needs and that are not recorded, one after the other. It records each run as soon
// as it ends.
type Runner struct {
	Scope
	Store *results.Store
	// EngineName is the name of the engine, in the form that [engine.Open] takes. The function Engine opens the engine;
	// it is called before the first run that needs an engine. The function Load loads a dataset.
	EngineName string
	Engine     func() (*engine.Engine, error)
	Load       func(ctx context.Context, name string) (*graphs.Graph, error)
	// Counts, if set, tells whether a record of the store is used. All other records are ignored.
	Counts func(results.Record) bool
	// Alone runs a benchmark in a new process, so that the memory of the benchmark alone can be measured. If Alone is
	// nil, benchmarks run in this process.
	Alone func(ctx context.Context, t Task) (results.Record, error)
	// Shard is the part of the work to do; the zero value stands for all of it.
	Shard Shard
	// CheckpointEvery is the least time between two checkpoints of a training; see [train.Checkpoint].
	CheckpointEvery time.Duration
	// The following functions are called if they are set. Starts is called before each run. Epoch is called after each
	// epoch of a training, with the estimated number of seconds that are left until the last epoch. Notice is called
	// with the messages of a training about its checkpoints ([train.Options]). Ended is called after each run. Waits is
	// called if other processes are making all runs that are left. This process then waits until the run t, one of
	// these runs, is made. NoDataset is called for each dataset that cannot be loaded. All runs on this dataset are
	// left out.
	Starts    func(Progress)
	Epoch     func(t Task, e train.Epoch, left float64)
	Notice    func(t Task, text string)
	Ended     func(results.Record)
	Waits     func(t Task)
	NoDataset func(name string, why error)

	engine *engine.Engine
	graphs map[string]*graphs.Graph
	absent map[string]string
}

// Progress tells how far a [Runner] is before it makes a run. Task is the task of this run. Number is 1 for the first
// run, 2 for the second, and so on. Total is the number of all runs: those that this Runner has made, this one, and
// those after it. Seconds is the estimated time of this run and of those after it. Unknown is the number of runs among
// them whose time cannot be estimated; Seconds does not include them.
type Progress struct {
	Task          Task
	Number, Total int
	Seconds       float64
	Unknown       int
}

// Left returns the estimated time of the remaining runs as text.
func (p Progress) Left() string { return timeOf(p.Seconds, p.Unknown) }

// Plan lists the runs that the given work needs, and their cost.
func (r *Runner) Plan(work Work) (Plan, error) {
	all, err := r.all()
	if err != nil {
		return Plan{}, err
	}
	return plan(r.scope(), Index(all), r.costs(all), work, r.Shard), nil
}

// costs returns the times and the memory of recorded runs. Only runs on the engine that this Runner uses count. If no
// engine can be chosen, runs on all engines count.
func (r *Runner) costs(all []results.Record) *Costs {
	name, err := engine.Choose(r.EngineName)
	if err != nil {
		name = ""
	}
	return NewCosts(all, name)
}

// View returns a view of the records in the store.
func (r *Runner) View() (*View, error) {
	all, err := r.all()
	if err != nil {
		return nil, err
	}
	return NewView(r.scope(), Index(all)), nil
}

// scope returns the Runner's Scope with an extended function Absent: it also reports the datasets that the Runner has
// tried to load without success.
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

// all returns the records that the Runner uses: all records of the store, except those of interrupted runs and those
// for which the function Counts returns false.
func (r *Runner) all() ([]results.Record, error) {
	found, err := r.Store.Find(results.Query{Status: []string{results.OK, results.Diverged, results.Failed}})
	return slices.DeleteFunc(found, func(record results.Record) bool {
		return r.Counts != nil && !r.Counts(record)
	}), err
}

// Run makes all runs that the given work needs and that are not recorded. The results of some runs may decide which
// settings further runs have. Run goes on until no run is left. Runs that failed before Run began are tried again,
// once. Several processes may call Run with the same store: each run is made by only one of them, and all return when
// all runs are made. If ctx is cancelled, the current training writes a checkpoint, but no record, and Run returns an
// error that says so. Earlier records are kept.
func (r *Runner) Run(ctx context.Context, work Work) error {
	q := &queue{Runner: r, work: work, began: time.Now().Truncate(time.Millisecond), tried: map[string]bool{}}
	for number := 1; ; number++ {
		next, own, err := q.next(ctx)
		if err != nil {
			return err
		}
		if next == nil {
			return ClaimsOf(r.Store).tidy(q.records)
		}
		if r.Starts != nil {
			p := q.plan
			r.Starts(Progress{next.Task, number, number - 1 + p.Missing, p.Seconds, p.Unknown})
		}
		// If this training fails, its record has no states. The key that is later computed from the record is then that
		// of the same task without Follow. Therefore both keys are marked as tried.
		q.tried[next.Key], q.tried[next.Task.alone().Key()] = true, true
		if err := r.make(ctx, next.Task, own); err != nil {
			return err
		}
	}
}

// make runs a task, records the run, and releases the claim of the run. If the dataset cannot be loaded, make returns
// no error: all runs on this dataset are then left out.
func (r *Runner) make(ctx context.Context, t Task, own *Claim) error {
	defer own.Release()
	record, err := r.one(ctx, t, own)
	if errors.Is(err, errNoDataset) {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted in %s; all earlier runs are kept, and the same command goes on from here", t)
	}
	if err != nil {
		return err
	}
	record.Profile = r.Profile.Name
	if _, err := r.Store.Add(record); err != nil {
		return fmt.Errorf("%s could not be recorded: %w", t, err)
	}
	if r.Ended != nil {
		r.Ended(record)
	}
	if record.Status == results.Failed {
		return nil // the checkpoint is kept, so that the training can go on from it later
	}
	return own.Recorded()
}

// Time times a few training steps of each program that missing runs need, unless the time of the program is known
// already. It records the times, and later plans use them. Plan and Run do not call Time, so that they start quickly.
func (r *Runner) Time(ctx context.Context, work Work) error {
	tried := map[string]bool{}
	p, err := r.Plan(work)
	if err != nil {
		return err
	}
	var todo []Task
	for _, s := range p.Steps {
		if !s.Done && trains(s.Kind) && s.Cost.Seconds == 0 && !tried[s.program()] {
			tried[s.program()] = true
			todo = append(todo, timed(s.Task))
		}
	}
	for i, t := range todo {
		if r.Starts != nil {
			r.Starts(Progress{Task: t, Number: i + 1, Total: len(todo), Unknown: len(todo) - i})
		}
		own, err := ClaimsOf(r.Store).Try(t.Key())
		if own != nil && err == nil {
			err = r.make(ctx, t, own)
		}
		if err != nil {
			return err
		}
	}
	return ClaimsOf(r.Store).tidy(nil)
}

var errNoDataset = errors.New("the dataset can't be had")

// one runs a task and returns the record of the run. A benchmark runs in a new process if the function Alone is set.
func (r *Runner) one(ctx context.Context, t Task, own *Claim) (record results.Record, err error) {
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
	place := Place{Engine: r.engine, Graph: g, Checkpoint: own.Training(r.CheckpointEvery)}
	if r.Notice != nil {
		place.Notice = func(text string) { r.Notice(t, text) }
	}
	if r.Epoch != nil {
		place.Epoch = paced(func(e train.Epoch, left float64) { r.Epoch(t, e, left) })
	}
	return Execute(ctx, place, t)
}

// graph returns a dataset, which is loaded only once. A dataset that cannot be loaded is marked as absent, so that its
// runs are left out.
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
