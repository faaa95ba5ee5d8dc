// Package search looks for the settings of a model with the best validation metric on a dataset, by asynchronous
// successive halving (ASHA; Li et al., A System for Massively Parallel Hyperparameter Tuning, MLSys 2020). A trial
// draws settings ([Sampler]) from a [Space] and trains for a few epochs; the best share of trials continue to the next
// rung, a number of epochs, and so on ([Schedule]). A trial's score at a rung is its best validation metric so far,
// averaged over splits; one that fails or diverges is worse than all.
//
// A job trains a trial up to a rung, and a step is its part on one split. Each step leaves a run record, and only these
// decide what comes next: a search can be interrupted, and processes can share it ([runs.Claims]).
//
// Trials see no labels of test nodes ([Blindfolds]). Only the chosen settings are tested, after the search
// ([Evaluate]).
package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// Search is a search for settings. Run goes on from the records that Store has under its [Search.ID]; several processes
// may run it at the same time.
type Search struct {
	Dataset string
	// One for each split. A trial's score is its mean validation metric.
	Graphs []Blind
	// Fixed names settings that are not drawn, even if Space has ranges for them.
	Space *Space
	Fixed []string
	// Base has the model and all settings that are not drawn. Its Epochs are those of a complete training, and its Seed
	// is that for drawing settings, for initial parameters and for dropout.
	Base     train.Config
	Schedule Schedule
	// Deadline, if set, ends the search. A step that would end after it is not begun, and a training that turns out to
	// be too slow is stopped, with its checkpoint.
	Deadline time.Time
	// Began is when the work began: trials that failed earlier are made again. Zero stands for the call of Run.
	Began time.Time

	Store           *runs.Store
	Engine          *engine.Engine
	CheckpointEvery time.Duration
	// These may be nil. Waits is called before a wait for others, which have claimed all that can be made now.
	Starts func(Step)
	Epoch  func(Step, train.Epoch)
	Ended  func(Step, Outcome)
	Notice func(Step, string)
	Waits  func(Step)
}

// Limits say how much a search tries, and how. Least is the least number of epochs of the first rung; 0 stands for a
// share of all epochs. See [Schedule] for the others.
type Limits struct {
	Trials, Reduction, Least int
	Hours                    float64
}

// New returns a search for settings of a model on a dataset, for as long as the limits say. The space is that of
// [openSpace]. What it lacks are graphs, store and engine.
func New(space, dataset string, c train.Config, fixed []string, l Limits) (*Search, error) {
	switch {
	case l.Trials < 0 || math.IsNaN(l.Hours) || l.Hours < 0 || l.Trials == 0 && l.Hours == 0:
		return nil, fmt.Errorf("trials is %d and hours is %g: give --trials, --hours, or both, above zero", l.Trials,
			l.Hours)
	case l.Hours > 24*366:
		return nil, fmt.Errorf("hours is %g: give a year at most", l.Hours)
	case l.Reduction < 2:
		return nil, fmt.Errorf("reduction is %d: choose 2 at least", l.Reduction)
	case l.Least < 0 || l.Least > c.Epochs:
		return nil, fmt.Errorf("min-epochs is %d: choose from 1 to the %d of --epochs", l.Least, c.Epochs)
	}
	least := l.Least
	if least == 0 {
		least = max(1, c.Epochs/(l.Reduction*l.Reduction*l.Reduction))
	}
	// In pretraining, the metrics say little about the model: trials are compared when it is over.
	if least <= c.Pretraining() {
		least = c.Pretraining() + 1
		if l.Least > 0 || least > c.Epochs {
			return nil, fmt.Errorf("the first %d epochs of %s are pretraining, and trials can be compared only later: give "+
				"--min-epochs and --epochs above %d", c.Pretraining(), c.Model, c.Pretraining())
		}
	}
	s := &Search{Dataset: dataset, Fixed: fixed, Base: c, Schedule: NewSchedule(c.Epochs, least, l.Reduction, l.Trials)}
	var err error
	if s.Space, err = openSpace(space); err == nil {
		_, err = s.Sampler().Trial(0)
	}
	if l.Hours > 0 {
		s.Deadline = time.Now().Add(time.Duration(l.Hours * float64(time.Hour)))
	}
	return s, err
}

// Step is the training of a trial up to a rung, on one split.
type Step struct {
	Job
	Split int
	// Until is the rung's number of epochs.
	Until int
	Sample
}

func (s Step) String() string {
	return fmt.Sprintf("trial %d to epoch %d, split %d", s.Trial, s.Until, s.Split)
}

func (s *Search) dimensions() []Dimension { return s.Space.Of(s.Base.Model, s.Fixed...) }

// ID is the same for searches with the same trials, and the Profile of their records. It depends on all that the results
// of trials depend on, except the engine, which changes only their last digits (docs/repeating.md). The number of trials
// and the deadline do not belong to it, so that a search can go on with more.
func (s *Search) ID() string {
	graphs := map[int]string{}
	for _, b := range s.Graphs {
		graphs[b.split] = b.checksum(s.Base)
	}
	const short = 12
	return runs.Search + "-" + runs.Key(map[string]any{"kind": runs.Search, "dataset": s.Dataset, "graphs": graphs,
		"config": s.Base.Resolved().Values(), "dimensions": s.dimensions(), "schedule": s.Schedule})[:short]
}

func (b Blind) checksum(c train.Config) string { return c.InputGraph(b.graph).Checksum() }

// Metric returns the name of the metric by which trials are compared. The metric is computed on validation nodes.
func (s *Search) Metric() string { return train.Metric(s.Base, s.Graphs[0].graph).Name }

func (s *Search) Sampler() *Sampler { return newSampler(s.dimensions(), s.Base, s.Base.Seed) }

// Run makes trials until none is left, or until the deadline. If ctx is cancelled, the current training saves a
// checkpoint. A trial that diverges or fails counts as worse than all others; one that failed before this call is tried
// once more. If all of the first few trials fail, Run returns an error.
func (s *Search) Run(ctx context.Context) (*Result, error) {
	switch {
	case len(s.Graphs) == 0:
		return nil, errors.New("a search needs a split at least")
	case s.Schedule.Trials == 0 && s.Deadline.IsZero():
		return nil, errors.New("a search needs a number of trials or a time at which it ends")
	}
	if err := s.Base.Validate(); err != nil {
		return nil, err
	}
	w := &work{Search: s, id: s.ID(), sampler: s.Sampler(),
		claims: runs.ClaimsOf(s.Store), began: runs.Beginning(s.Began), tooLate: map[Job]bool{}}
	q := runs.Queue[Step]{Claims: w.claims, Look: w.look, Open: w.open, Waits: w.Waits, Deadline: w.Deadline,
		Keys: func(s Step) (made, claim string) { return w.key(s), w.claimKey(s) }}
	if err := q.Run(ctx, func(s Step, own *runs.Claim) error { return w.make(ctx, s, own) }); err != nil {
		return nil, err
	}
	return w.result()
}

// work is the state of [Search.Run] while it runs in this process.
type work struct {
	*Search
	id      string
	sampler *Sampler
	claims  runs.Claims
	// Trials that failed before began are made again.
	began time.Time
	known known
	costs *runs.Costs
	// tooLate are the jobs that were stopped for the deadline, and that this process does not begin again.
	tooLate map[Job]bool
}

// look reads the records of the search again. It returns an error if the first ten trials failed, or all if there are
// fewer: further ones would probably fail, too.
func (w *work) look() (err error) {
	if w.known, err = read(w.Store, w.id, w.began); err != nil {
		return err
	}
	if w.costs == nil {
		all, err := w.Store.Find(runs.Query{Status: []string{runs.OK, runs.Diverged}})
		if err != nil {
			return err
		}
		w.costs = runs.NewCosts(all, w.Engine.Name)
	}
	const enough = 10
	count, why := 0, ""
	for _, t := range w.known {
		i := slices.IndexFunc(t.outcomes(), func(o Outcome) bool { return o.record.Status == runs.Failed })
		if i < 0 {
			return nil
		}
		count, why = count+1, t.outcomes()[i].record.Message
	}
	if count < enough && (count == 0 || count != w.Schedule.Trials) {
		return nil
	}
	return fmt.Errorf("all of the first %d trials failed, such as one since %s; change that, or settings that are "+
		"given, and search again: failed trials are then made once more", count, why)
}

// ahead is the largest number of new trials in open: without a limit on trials they have no end.
const ahead = 64

// open lists the steps that can be made now and are predicted to end before the deadline.
func (w *work) open() iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		fresh := 0
		for job := range w.Schedule.Next(w.known.standings(w.splits())) {
			if _, begun := w.known[job.Trial]; !begun {
				if fresh++; fresh > ahead {
					return
				}
			}
			sample, err := w.sampler.Trial(job.Trial)
			if err != nil {
				yield(Step{}, err)
				return
			}
			for _, k := range w.splits() {
				if _, done := w.known.of(job, k); done {
					continue
				}
				s := Step{job, k, w.Schedule.Rungs[job.Rung], sample}
				if !w.fits(s) {
					break
				}
				if !yield(s, nil) {
					return
				}
			}
		}
	}
}

func (w *work) splits() []int {
	var out []int
	for _, b := range w.Graphs {
		out = append(out, b.split)
	}
	return out
}

func (w *work) key(s Step) string {
	return runs.Key(map[string]any{"search": w.id, "trial": s.Trial, "rung": s.Rung, "split": s.Split})
}

// claimKey does not depend on the rung: a training goes on from rung to rung with one checkpoint.
func (w *work) claimKey(s Step) string {
	return runs.Key(map[string]any{"search": w.id, "trial": s.Trial, "split": s.Split})
}

// fits tells whether a step is predicted to reach its rung before the deadline.
func (w *work) fits(s Step) bool {
	if w.Deadline.IsZero() {
		return true
	}
	left := time.Until(w.Deadline).Seconds()
	return left > 0 && !w.tooLate[s.Job] && w.seconds(s, w.claims.Kept(w.claimKey(s))) <= left
}

// errTooLate is the error of a training that was stopped for the deadline. Its checkpoint is kept.
var errTooLate = errors.New("there is no time left")

func (w *work) make(ctx context.Context, s Step, own *runs.Claim) error {
	if w.Starts != nil {
		w.Starts(s)
	}
	record, o, err := w.execute(ctx, s, own)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("interrupted in %s; its state and all earlier trials are kept, and the same command goes on from "+
			"here", s)
	case errors.Is(err, errTooLate):
		w.tooLate[s.Job] = true
		if w.Notice != nil {
			w.Notice(s, "would not come to its rung in time: it is left where it is")
		}
		return nil
	case err != nil:
		return err
	}
	if record.ID, err = w.Store.Add(record); err != nil {
		return fmt.Errorf("%s could not be recorded: %w", s, err)
	}
	o.record = record
	if w.Ended != nil {
		w.Ended(s, o)
	}
	if record.Status == runs.Diverged || o.Ended {
		return own.Recorded()
	}
	return nil // the checkpoint is kept: the training goes on from it later
}

// execute trains up to the step's rung. If the training has ended at a lower rung, the outcome there is copied.
func (w *work) execute(ctx context.Context, s Step, own *runs.Claim) (r runs.Record, o Outcome, err error) {
	i := slices.IndexFunc(w.Graphs, func(b Blind) bool { return b.split == s.Split })
	t := runs.Task{Kind: runs.Search, Dataset: w.Dataset, Config: s.Config.Resolved(), Split: s.Split}
	before, higher := w.known.of(Job{s.Trial, s.Rung - 1}, s.Split)
	if higher && before.Ended {
		r = runs.Start(t, w.Graphs[i].checksum(s.Config), w.Engine.Name)
		r.Status = runs.OK
		o = before
		o.New = 0
	} else {
		if r, o, err = w.train(ctx, w.Graphs[i].graph, t, s, own); err != nil {
			return r, o, err
		}
		if r.Status == runs.Failed { // a failed training does not report its time
			o.Total = before.Total + r.Seconds
		} else if !o.Began.Equal(before.Began) { // it started over
			before = Outcome{}
		}
		o.New = max(0, o.Epochs-before.Epochs)
		r.Seconds = max(0, o.Total-before.Total)
	}
	r.Profile, r.Key = w.id, w.key(s)
	o.Search, o.Trial, o.Rung, o.Until, o.Settings, o.Metric = w.id, s.Trial, s.Rung, s.Until, s.Settings, w.Metric()
	o.End = time.Now().UTC()
	r.Outcome, err = json.Marshal(o)
	return r, o, err
}

// train goes on from a checkpoint, unless another version of revgnn made it.
func (w *work) train(ctx context.Context, g *graphs.Graph, task runs.Task, s Step, own *runs.Claim) (runs.Record, Outcome,
	error) {
	until, stop := runs.Until(ctx, w.Deadline)
	defer stop()
	pace := paced(w.Deadline, s.Until)
	x := runs.Executor{Engine: w.Engine, Graph: g, Checkpoint: own.Training(w.CheckpointEvery),
		Epoch: func(e train.Epoch) {
			if w.Epoch != nil {
				w.Epoch(s, e)
			}
			if pace(e) {
				stop()
			}
		}}
	if s.Rung < len(w.Schedule.Rungs)-1 {
		x.Until = s.Until
	}
	if w.Notice != nil {
		x.Notice = func(text string) { w.Notice(s, text) }
	}
	r, out, err := x.Make(until, task)
	if errors.Is(err, runs.ErrInterrupted) && ctx.Err() == nil {
		err = errTooLate
	}
	t, went := out.(runs.Trained)
	if err != nil || !went {
		return r, Outcome{Val: train.Number(math.NaN()), Residual: train.Number(math.NaN()),
			AdjointResidual: train.Number(math.NaN())}, err
	}
	if r.Status != runs.Diverged {
		r.Status, r.Message = runs.OK, ""
	}
	return r, Outcome{Epochs: t.Epochs, BestEpoch: t.BestEpoch, Val: t.Val, Ended: t.Status == train.OK, Began: t.Began,
		Total: t.Seconds, EpochSeconds: t.EpochSeconds, CompileSeconds: t.CompileSeconds, PeakRSS: t.PeakRSS,
		PredictedBytes: t.PredictedBytes, Iterations: t.Iterations, Residual: t.Residual,
		AdjointResidual: t.AdjointResidual}, nil
}

// paced returns a function for the end of each epoch, which tells whether the last epoch would come only after the
// deadline, by the mean time of the epochs so far. The first few are too few to tell.
func paced(deadline time.Time, until int) func(train.Epoch) bool {
	const enough = 3
	var pace runs.Pace
	return func(e train.Epoch) bool {
		each, measured := pace.At(e)
		left := time.Duration(each * float64(until-e.Epoch) * float64(time.Second))
		return !deadline.IsZero() && measured >= enough && time.Now().Add(left).After(deadline)
	}
}
