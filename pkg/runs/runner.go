package runs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/train"
)

// Runner makes the runs that a [Work] needs and that are not recorded yet, one after the other. Each run is recorded as
// soon as the run ends.
type Runner struct {
	Scope
	Store *Store
	// EngineName is the name of the engine, such as "xla:cpu"; see [engine.Open]. The function Engine opens the engine.
	// The Runner calls Engine before the first run that needs an engine. The function Load loads the dataset with the
	// given name.
	EngineName string
	Engine     func() (*engine.Engine, error)
	Load       func(ctx context.Context, name string) (*graphs.Graph, error)
	// Counts, if not nil, is called with each record of the store. The Runner ignores the records for which Counts
	// returns false.
	Counts func(Record) bool
	// Alone runs a benchmark in a new process, so that the memory of the benchmark alone can be measured. If Alone is
	// nil, benchmarks run in this process.
	Alone func(ctx context.Context, t Task) (Record, error)
	// Shard is the part of the work to do; the zero value stands for all of it.
	Shard Shard
	// CheckpointEvery is the least time between two checkpoints of a training; see [train.Checkpoint].
	CheckpointEvery time.Duration
	// The Runner calls these functions, unless they are nil:
	//   - Starts before each run.
	//   - Epoch after each epoch of a training. The argument left is the estimated number of seconds until the training
	//     ends.
	//   - Notice for each message of a training about its checkpoints ([train.Options]), and for a benchmark whose
	//     process ends without a record.
	//   - Ended after each run, with the record of the run.
	//   - Waits if other processes are making all runs that are left. The Runner then waits until the run of the task t
	//     ends.
	//   - NoDataset for each dataset that cannot be loaded. The Runner then makes no runs on this dataset.
	Starts    func(Progress)
	Epoch     func(t Task, e train.Epoch, left float64)
	Notice    func(t Task, text string)
	Ended     func(Record)
	Waits     func(t Task)
	NoDataset func(name string, why error)

	engine *engine.Engine
	graphs map[string]*graphs.Graph
	absent map[string]string
}

// Progress tells how many runs a [Runner] has made, and how many are left. A Runner reports it before each run. Task is
// the task of the run that begins now. Number is 1 for the first run of the Runner, 2 for the second, and so on. Total
// is the number of runs that the Runner will have made in the end. Seconds is the estimated time from now to the end.
// It does not include the runs whose time cannot be estimated. Unknown is the number of these runs.
type Progress struct {
	Task          Task
	Number, Total int
	Seconds       float64
	Unknown       int
}

// Left returns the estimated time of the remaining runs as text.
func (p Progress) Left() string { return timeOf(p.Seconds, p.Unknown) }

// Plan lists the runs that the given work needs, and their cost. A run that failed is not done, since [Runner.Run] tries
// it again.
func (r *Runner) Plan(work Work) (Plan, error) {
	all, err := r.all()
	if err != nil {
		return Plan{}, err
	}
	records := Index(all)
	records.forgetFailed(time.Now())
	return plan(r.scope(), records, r.costs(all), work, r.Shard), nil
}

// costs returns the times and the memory of those recorded runs that were made on this Runner's engine. If this engine
// cannot be used, costs returns the times and the memory of recorded runs on all engines.
func (r *Runner) costs(all []Record) *Costs {
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

// scope returns a copy of the Runner's field Scope, with an extended function Absent. The extended function also
// reports datasets that the Runner has tried to load without success.
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
func (r *Runner) all() ([]Record, error) {
	found, err := r.Store.Find(Query{Status: []string{OK, Diverged, Failed}})
	return slices.DeleteFunc(found, func(record Record) bool {
		return r.Counts != nil && !r.Counts(record)
	}), err
}

// Run makes all runs that the given work needs and that are not recorded yet. This includes runs whose settings are
// chosen by the results of other runs. A run that failed before this call of Run is tried again, once.
//
// Several processes may call Run with the same store. Each run is then made by only one of the processes, and each
// process waits until all runs are made.
//
// If ctx is cancelled, the current training writes a checkpoint, and Run returns an error. The interrupted run is not
// recorded. The records of earlier runs are kept.
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
		// The key of the task is marked as tried, so that this call does not make the run again. The task may ask for
		// states of the trained model, by its field Follow. If the training fails, its record has no states. The key
		// that [Index] computes from such a record is the key of the task without Follow. Therefore this key is marked,
		// too.
		q.tried[next.Key], q.tried[next.Task.alone().Key()] = true, true
		if err := r.make(ctx, next.Task, own); err != nil {
			return err
		}
	}
}

// make runs a task, records the run, and releases the claim of the run. If the dataset cannot be loaded, or if the
// process of a benchmark ends without a record, make returns without an error, since the Runner then goes on with other
// runs.
func (r *Runner) make(ctx context.Context, t Task, own *Claim) error {
	defer own.Release()
	record, err := r.one(ctx, t, own)
	if errors.Is(err, errLeftOut) && ctx.Err() == nil {
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
	if record.Status == Failed {
		return nil // the checkpoint is kept, so that the training can go on from it later
	}
	return own.Recorded()
}

// Time measures how long a few training steps take, for each program of the runs that are not recorded yet. It leaves
// out programs whose time is already known from records. The measurements are recorded, so that later calls of Plan
// estimate costs from them. Plan and Run do not call Time, so that they start quickly.
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

// errLeftOut is the error of a task that is left out, while the Runner goes on with the others.
var errLeftOut = errors.New("left out")

// one runs a task and returns the record of the run. A benchmark runs in a new process if the function Alone is set.
func (r *Runner) one(ctx context.Context, t Task, own *Claim) (record Record, err error) {
	if t.Kind == Bench && r.Alone != nil {
		if record, err = r.Alone(ctx, t); err != nil && ctx.Err() == nil {
			if r.Notice != nil {
				r.Notice(t, "left out: "+err.Error())
			}
			err = errors.Join(errLeftOut, err)
		}
		return record, err
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

// graph returns the dataset with the given name. Each dataset is loaded only once. If a dataset cannot be loaded, graph
// marks it as absent, so that the Runner makes no more runs on it.
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
		return nil, errors.Join(errLeftOut, err)
	}
	if r.graphs == nil {
		r.graphs = map[string]*graphs.Graph{}
	}
	r.graphs[name] = g
	return g, nil
}
