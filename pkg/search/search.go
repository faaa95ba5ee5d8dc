package search

import (
	"context"
	"fmt"
	"time"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/experiment"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/results"
	"github.com/revgnn/revgnn/pkg/train"
)

// Search is one search of settings. What it has come to is in Store alone: a Search of the same definition goes on
// from there, in another process as well, also at the same time. See [Search.ID] for what defines it.
type Search struct {
	// Dataset as users type it.
	Dataset string
	// Graphs, one for each split: a trial's score is the mean of its validation metrics on them.
	Graphs []Blind
	// Space is drawn from, but for the settings that are Fixed, by their names in JSON.
	Space *Space
	Fixed []string
	// Base has the model and whatever is not searched: Epochs of the last rung, Patience, and the Seed of samples,
	// parameters and dropout.
	Base train.Config
	// Schedule says how far trials train.
	Schedule Schedule
	// Deadline, if set, ends the search: what would not come to its rung in time is not begun, and what turns out not
	// to is left where it is, for a search that goes on.
	Deadline time.Time

	Store  *results.Store
	Engine *engine.Engine
	// CheckpointEvery is [train.Checkpoint]'s Every.
	CheckpointEvery time.Duration
	// Starts, if set, is called before a trial trains on a split, Epoch after each of its epochs, Ended when it came to
	// its rung there, Notice with what else there is to say of it, and Waits before this process waits, since every
	// step that could be made now is being made by another one.
	Starts func(Step)
	Epoch  func(Step, train.Epoch)
	Ended  func(Step, Outcome)
	Notice func(Step, string)
	Waits  func()
}

// Step is a trial on its way to a rung, on one split.
type Step struct {
	Job
	Split int
	// Until is the number of epochs of the rung.
	Until int
	Sample
}

// String names the step for people.
func (s Step) String() string {
	return fmt.Sprintf("trial %d to epoch %d, split %d", s.Trial, s.Until, s.Split)
}

// definition is all that the trials of a search depend on. How many there are, and how long it may take, does not
// belong to it, nor does the engine, on which only the last digits depend (see docs/repeating.md): a search may go on
// on another one.
func (s *Search) definition() map[string]any {
	graphs := map[int]string{}
	for _, b := range s.Graphs {
		graphs[b.split] = b.checksum(s.Base)
	}
	return map[string]any{"kind": results.Search, "dataset": s.Dataset, "graphs": graphs,
		"config": s.Base.Resolved().Values(), "dimensions": s.dimensions(), "schedule": s.Schedule}
}

// dimensions are the settings that are searched.
func (s *Search) dimensions() []Dimension { return s.Space.Of(s.Base.Model, s.Fixed...) }

// ID is the same for searches whose trials are the same: of the same dataset, splits, space, rungs, seed and other
// settings. It is the profile of their records.
func (s *Search) ID() string {
	key, err := results.Key(s.definition())
	if err != nil {
		panic(err) // plain data
	}
	const short = 12
	return results.Search + "-" + key[:short]
}

// checksum is that of the graph as a model sees it, without test nodes and their labels.
func (b Blind) checksum(c train.Config) string { return models.Seen(c.Config, b.graph).Checksum() }

// Metric is what trials are compared by, on validation nodes.
func (s *Search) Metric() string { return train.Metric(s.Graphs[0].graph) }

// check returns an error where there is nothing to search.
func (s *Search) check() error {
	if len(s.Graphs) == 0 {
		return fmt.Errorf("a search needs a split at least")
	}
	if s.Schedule.Trials == 0 && s.Deadline.IsZero() {
		return fmt.Errorf("a search needs a number of trials or a time at which it ends")
	}
	return s.Base.Validate()
}

// Sampler draws the settings of trials.
func (s *Search) Sampler() *Sampler { return NewSampler(s.dimensions(), s.Base, s.Base.Seed) }

// Run makes trials until none is left, or until the deadline. Where ctx is cancelled, the trial in flight keeps its
// state, and the error says so; the same search goes on from there. A trial that diverges or fails, for instance since
// it needs more memory than there is, counts as worse than all others; if the first few all fail, that is an error. A
// trial that failed before is tried again, once.
func (s *Search) Run(ctx context.Context) (*Result, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	w := &work{Search: s, id: s.ID(), sampler: s.Sampler(),
		claims: experiment.ClaimsOf(s.Store), began: time.Now().Truncate(time.Millisecond), late: map[Job]bool{}}
	for {
		if err := w.look(); err != nil {
			return nil, err
		}
		step, own, err := w.next(ctx)
		if err != nil {
			return nil, err
		}
		if step == nil {
			return w.result()
		}
		if err := w.make(ctx, *step, own); err != nil {
			return nil, err
		}
	}
}
