package runs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/machine"
	"github.com/revgnn/revgnn/pkg/train"
)

// Runner makes the runs that a [Work] needs and that are not recorded yet, one after the other.
type Runner struct {
	Scope
	Store *Store
	// Engine is called before the first run that needs one; see [engine.Open] for its name.
	EngineName string
	Engine     func() (*engine.Engine, error)
	Load       func(ctx context.Context, name string) (*graphs.Graph, error)
	// Counts, if not nil, says which records of the store count.
	Counts func(Record) bool
	// Alone, if not nil, runs a benchmark in a process of its own ([InOwnProcess]).
	Alone           func(ctx context.Context, t Task) (Record, error)
	Shard           Shard
	CheckpointEvery time.Duration
	// Began is when the work began: a run that failed earlier is tried again, once. Zero stands for the call of Run.
	Began time.Time
	// These may be nil. Left is the estimated number of seconds until the training ends. Notice tells of checkpoints, of
	// waits for other processes, and of what is left out: a benchmark whose process ends without a record, and the runs
	// on a dataset that cannot be loaded.
	Starts func(Progress)
	Epoch  func(t Task, e train.Epoch, left float64)
	Ended  func(Record)
	Notice func(text string)

	engine *engine.Engine
	graphs map[string]*graphs.Graph
	absent map[string]string
	seen   *seen
}

// seen is what a Runner knows of the records that it has read: to read thousands anew before each run takes a second.
type seen struct {
	before  time.Time
	ids     map[string]bool
	records Records
	costs   *Costs
}

// Progress is what a [Runner] reports before each run. Number counts from 1. Seconds is the estimated time to the end
// of all, except Unknown many runs whose time cannot be estimated.
type Progress struct {
	Task          Task
	Number, Total int
	Seconds       float64
	Unknown       int
}

func (p Progress) Left() string { return timeOf(p.Seconds, p.Unknown) }

func (r *Runner) notice(format string, args ...any) {
	if r.Notice != nil {
		r.Notice(fmt.Sprintf(format, args...))
	}
}

// Plan lists the runs that the work needs, and their cost. A run that failed is not done, since [Runner.Run] tries it
// again.
func (r *Runner) Plan(work Work) (Plan, error) {
	p, _, err := r.look(work, time.Now())
	return p, err
}

func (r *Runner) View() (*View, error) {
	all, err := r.all(time.Time{})
	return NewView(r.scope(), index(all)), err
}

// scope returns the Runner's Scope. Its Absent also reports the datasets that could not be loaded.
func (r *Runner) scope() Scope {
	s := r.Scope
	s.Absent = func(dataset string) string {
		if why := r.absent[dataset]; why != "" || r.Scope.Absent == nil {
			return why
		}
		return r.Scope.Absent(dataset)
	}
	return s
}

// all returns the records that count, without those of interrupted runs and of runs that failed before.
func (r *Runner) all(before time.Time) ([]Record, error) {
	found, err := r.Store.Find(Query{Status: []string{OK, Diverged, Failed}})
	return slices.DeleteFunc(found, func(record Record) bool {
		return r.Counts != nil && !r.Counts(record) || record.FailedBefore(before)
	}), err
}

// Run makes all runs that the work needs and that are not recorded yet, also those whose settings depend on others'
// results. A run that failed before this call is tried again, once.
//
// Processes that run the same work with the same store share the runs, and each waits until all are made. If ctx is
// cancelled, the current training writes a checkpoint, and Run returns an error.
func (r *Runner) Run(ctx context.Context, work Work) error {
	began, tried, number := Beginning(r.Began), map[string]bool{}, 0
	var (
		records Records
		p       Plan
	)
	last, absent := "", 0
	look := func() error {
		state, err := r.Store.state()
		if err != nil || state == last && absent == len(r.absent) {
			return err
		}
		last, absent = state, len(r.absent)
		p, records, err = r.look(work, began)
		return err
	}
	open := func() iter.Seq2[Step, error] {
		return func(yield func(Step, error) bool) {
			for _, s := range p.Steps {
				if !s.Done && !s.Provisional && !tried[s.Key] && !yield(s, nil) {
					return
				}
			}
		}
	}
	q := Queue[Step]{Claims: ClaimsOf(r.Store), Look: look, Open: open,
		Keys: func(s Step) (string, string) { return s.Key, s.Key },
		Waits: func(s Step) {
			r.notice("waiting for other processes, which make the runs that are left, such as %s", s.Task)
		}}
	err := q.Run(ctx, func(next Step, own *Claim) error {
		number++
		if r.Starts != nil {
			r.Starts(Progress{next.Task, number, number - 1 + p.Missing, p.Seconds, p.Unknown})
		}
		// The record of a training that failed has no states, and so the key of the task without Trace.
		tried[next.Key], tried[next.Task.alone().Key()] = true, true
		return r.make(ctx, next.Task, own)
	})
	if err != nil {
		return err
	}
	return ClaimsOf(r.Store).tidy(records)
}

// Beginning is when work began, as exact as records are, which is now where it is not said.
func Beginning(began time.Time) time.Time {
	if began.IsZero() {
		began = time.Now()
	}
	return began.Truncate(time.Millisecond)
}

// make runs a task and records the run. It returns no error if the Runner can go on with other runs.
func (r *Runner) make(ctx context.Context, t Task, own *Claim) error {
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

// Time times a few training steps for each program of the missing runs whose time is not known from records, and
// records these benchmarks. Plan and Run do not, so that they start quickly.
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
			t := s.Task
			t.Kind, t.Split, t.Trace = Bench, NoSplit, nil
			t.Config.Epochs = 3 // the time of the first one is not counted
			todo = append(todo, t)
		}
	}
	for i, t := range todo {
		if r.Starts != nil {
			r.Starts(Progress{Task: t, Number: i + 1, Total: len(todo), Unknown: len(todo) - i})
		}
		own, err := ClaimsOf(r.Store).Try(t.Key())
		if own != nil && err == nil {
			err = r.make(ctx, t, own)
			own.Release()
		}
		if err != nil {
			return err
		}
	}
	return ClaimsOf(r.Store).tidy(nil)
}

// errLeftOut is the error of a task that is left out, while the Runner goes on with the others.
var errLeftOut = errors.New("left out")

// one runs a task, a benchmark in a new process if Alone is set.
func (r *Runner) one(ctx context.Context, t Task, own *Claim) (record Record, err error) {
	if t.Kind == Bench && r.Alone != nil {
		if record, err = r.Alone(ctx, t); err != nil && ctx.Err() == nil {
			r.notice("%s: left out: %v", t, err)
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
	executor := Executor{Engine: r.engine, Graph: g, Checkpoint: own.Training(r.CheckpointEvery),
		Notice: func(text string) { r.notice("%s: %s", t, text) }}
	if r.Epoch != nil {
		var pace Pace
		executor.Epoch = func(e train.Epoch) {
			each, _ := pace.At(e)
			r.Epoch(t, e, each*float64(e.Epochs-e.Epoch))
		}
	}
	return executor.Execute(ctx, t)
}

// graph loads each dataset once. One that cannot be loaded is absent from then on.
func (r *Runner) graph(ctx context.Context, name string) (*graphs.Graph, error) {
	if r.graphs == nil {
		r.graphs, r.absent = map[string]*graphs.Graph{}, map[string]string{}
	}
	if g := r.graphs[name]; g != nil {
		return g, nil
	}
	g, err := r.Load(ctx, name)
	if err != nil {
		r.absent[name] = "not run: dataset not here (" + err.Error() + ")"
		r.notice("warning: runs on %s are left out: %v", name, err)
		return nil, errors.Join(errLeftOut, err)
	}
	r.graphs[name] = g
	return g, nil
}

// Plan lists the runs that a [Work] needs, and their cost.
type Plan struct {
	Steps []Step `json:"steps"`
	// Skipped is the number of runs that belong to other shards. They are not in Steps.
	Skipped int `json:"skipped"`
	Done    int `json:"done"`
	Missing int `json:"missing"`
	// Seconds is the time of all missing steps, except Unknown many whose time cannot be estimated.
	Seconds float64 `json:"seconds"`
	Unknown int     `json:"unknown"`
	// Bytes is the memory of the missing step that needs most. AtLeast says that some steps' is only a lower bound.
	Bytes   int64 `json:"bytes"`
	AtLeast bool  `json:"bytes_at_least"`
}

// look reads the records that count, and plans with them. Costs are those of the Runner's engine, or of all if it
// cannot be used.
func (r *Runner) look(work Work, before time.Time) (Plan, Records, error) {
	all, err := r.all(before)
	s := r.seen
	if s == nil || !s.before.Equal(before) || len(all) < len(s.ids) {
		name, _, _ := engine.Choose(r.EngineName) // "" if none can be opened
		s = &seen{before, map[string]bool{}, Records{}, NewCosts(nil, name)}
		r.seen = s
	}
	for _, one := range all {
		if s.ids[one.ID] {
			continue
		}
		s.ids[one.ID] = true
		if t, err := taskOf(&one); err == nil {
			s.records.add(t, &one)
			s.costs.add(t, &one)
		}
	}
	return plan(r.scope(), s.records, s.costs, work, r.Shard), s.records, err
}

func plan(s Scope, records Records, costs *Costs, work Work, shard Shard) (p Plan) {
	v := NewView(s, records)
	work(v)
	mine := shard.groups(s, work)
	for _, step := range v.steps {
		if mine != nil && !mine[step.Group] {
			p.Skipped++
			continue
		}
		step.Cost = costs.Of(step.Task)
		p.Steps = append(p.Steps, step)
		if step.Done {
			p.Done++
			continue
		}
		p.Missing++
		p.Seconds += step.Cost.Seconds
		if step.Cost.Seconds == 0 {
			p.Unknown++
		}
		p.Bytes = max(p.Bytes, step.Cost.Bytes)
		p.AtLeast = p.AtLeast || step.Cost.AtLeast
	}
	return p
}

func (p Plan) Time() string { return timeOf(p.Seconds, p.Unknown) }

func timeOf(seconds float64, unknown int) string {
	switch {
	case unknown == 0:
		return "about " + Duration(seconds)
	case seconds == 0:
		return "not known yet"
	case unknown == 1:
		return fmt.Sprintf("at least %s, and 1 run whose time is not known yet", Duration(seconds))
	}
	return fmt.Sprintf("at least %s, and %d runs whose time is not known yet", Duration(seconds), unknown)
}

// Queue hands out work that several processes share, and that the records of a store decide.
type Queue[S fmt.Stringer] struct {
	Claims Claims
	// Look reads the records again, since other processes may add some at any time.
	Look func() error
	// Open lists what can be made now, the most urgent first.
	Open func() iter.Seq2[S, error]
	// Keys returns what identifies the work, and the key of its claim.
	Keys     func(S) (made, claim string)
	Waits    func(s S)
	Deadline time.Time
}

// Run makes what is open, one after the other, until nothing is left or until the deadline. If other processes have
// claimed all that is open, it waits for one of them.
func (q Queue[S]) Run(ctx context.Context, make func(S, *Claim) error) error {
	for {
		if err := q.Look(); err != nil {
			return err
		}
		next, own, err := q.claim(ctx)
		if err != nil || own == nil {
			return err
		}
		if err = q.Look(); err == nil { // another process may have made it in the meantime
			var open bool
			if open, err = q.isOpen(next); open {
				err = make(next, own)
			}
		}
		own.Release()
		if err != nil {
			return err
		}
	}
}

func (q Queue[S]) isOpen(s S) (bool, error) {
	made, _ := q.Keys(s)
	for open, err := range q.Open() {
		if err != nil {
			return false, err
		}
		if other, _ := q.Keys(open); other == made {
			return true, nil
		}
	}
	return false, nil
}

// claim claims the first that no other process has claimed, or waits for the first of all. The claim is nil if nothing
// is open, or if the deadline comes first.
func (q Queue[S]) claim(ctx context.Context) (first S, own *Claim, err error) {
	some := false
	for s, err := range q.Open() {
		if err != nil {
			return s, nil, err
		}
		_, key := q.Keys(s)
		if own, err := q.Claims.Try(key); own != nil || err != nil {
			return s, own, err
		}
		if !some {
			first, some = s, true
		}
	}
	if !some {
		return first, nil, nil
	}
	if q.Waits != nil {
		q.Waits(first)
	}
	until, stop := Until(ctx, q.Deadline)
	defer stop()
	_, key := q.Keys(first)
	own, err = q.Claims.take(key, func(path string) (*files.Lock, error) { return files.AwaitLock(until, path) })
	if until.Err() == nil {
		return first, own, err
	}
	if own != nil { // the lock came at the very end of the time
		own.Release()
	}
	if ctx.Err() != nil {
		return first, nil, fmt.Errorf("interrupted while another process made %s; all runs that ended are kept, and the "+
			"same command goes on from here", first)
	}
	return first, nil, nil
}

// Until returns a context that ends with ctx, and at the deadline at the latest, if there is one.
func Until(ctx context.Context, deadline time.Time) (context.Context, context.CancelFunc) {
	if deadline.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline)
}

// Claims are locked files in a folder beside the store, one for each run that a process makes, by its key: of processes
// that share a store, only one makes the run. The folder also holds the checkpoints of trainings.
type Claims struct{ dir string }

func ClaimsOf(store *Store) Claims {
	if store.folder != nil {
		return store.folder.claims()
	}
	return Claims{store.Path() + ".checkpoints"}
}

const lockSuffix, checkpointSuffix = ".lock", ".checkpoint"

// Claim is the right to make a run. A nil claim means that another process has it.
type Claim struct {
	*files.Lock
	checkpoint string
}

// Try claims a run, or returns nil if another process has the claim.
func (c Claims) Try(key string) (*Claim, error) {
	return c.take(key, files.TryLock)
}

func (c Claims) take(key string, lock func(path string) (*files.Lock, error)) (*Claim, error) {
	for {
		if err := os.MkdirAll(c.dir, 0o777); err != nil {
			return nil, fmt.Errorf("cannot make the folder of checkpoints: %w", err)
		}
		l, err := lock(filepath.Join(c.dir, key+lockSuffix))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // another process has removed the empty folder
		case l == nil || err != nil:
			return nil, err
		}
		return &Claim{l, filepath.Join(c.dir, key+checkpointSuffix)}, nil
	}
}

func (c Claims) Kept(key string) bool {
	_, err := os.Stat(filepath.Join(c.dir, key+checkpointSuffix))
	return err == nil
}

// Training returns the checkpoint for [train.Fit]. One of another version of revgnn, Go or a library is not used, since
// a record names only one version of each.
func (c *Claim) Training(every time.Duration) *train.Checkpoint {
	return &train.Checkpoint{Path: c.checkpoint, Every: every, Versions: machine.Versions(), Replace: true}
}

// Recorded removes the checkpoint of a run. Call it after the run is recorded.
func (c *Claim) Recorded() error {
	if err := os.Remove(c.checkpoint); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the run is recorded, but its checkpoint cannot be removed: %w", err)
	}
	return nil
}

// tidy removes the checkpoints of recorded runs, which a process killed just after recording leaves behind, and then
// the folder if it is empty.
func (c Claims) tidy(records Records) error {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return nil // there is no folder
	}
	for _, e := range entries {
		key, is := strings.CutSuffix(e.Name(), checkpointSuffix)
		if r := records[key]; !is || r == nil || r.Status == Failed {
			continue
		}
		own, err := c.Try(key)
		if err != nil {
			return err
		}
		if own != nil {
			err = own.Recorded()
			own.Release()
		}
		if err != nil {
			return err
		}
	}
	os.Remove(c.dir) // fails if the folder is not empty
	return nil
}
