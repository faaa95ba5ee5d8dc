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

// Search is one search of settings. Its state is in Store alone: a Search with the same definition continues it, also
// in another process, and at the same time. See [Search.ID] for the definition.
type Search struct {
	// Dataset as users type it.
	Dataset string
	// Graphs has one graph for each split. A trial's score is the mean of its validation metrics on these graphs.
	Graphs []Blind
	// Space has the settings that are drawn for each trial. Settings named in Fixed, by their names in JSON, are not
	// drawn.
	Space *Space
	Fixed []string
	// Base has the model and all settings that are not searched, such as Patience. Its Epochs are the epochs of the
	// last rung. Its Seed is for samples, parameters and dropout.
	Base train.Config
	// Schedule says how far trials train, and which of them continue.
	Schedule Schedule
	// Deadline, if set, ends the search. Steps that would not reach their rung in time are not begun. Steps that turn
	// out to be too slow are stopped, and keep their state, from which a later run of the search continues.
	Deadline time.Time

	Store  *results.Store
	Engine *engine.Engine
	// CheckpointEvery is [train.Checkpoint]'s Every.
	CheckpointEvery time.Duration
	// Callbacks, if set. Starts is called before a trial trains on a split; Epoch after each epoch; Ended when the
	// trial has reached its rung there; Notice with other messages about it; Waits before this process waits, because
	// other processes are at every step that could be made now.
	Starts func(Step)
	Epoch  func(Step, train.Epoch)
	Ended  func(Step, Outcome)
	Notice func(Step, string)
	Waits  func()
}

// Step is a trial to train up to a rung on one split.
type Step struct {
	Job
	Split int
	// Until is the rung's number of epochs.
	Until int
	Sample
}

// String names the step for people.
func (s Step) String() string {
	return fmt.Sprintf("trial %d to epoch %d, split %d", s.Trial, s.Until, s.Split)
}

// definition is everything that the trials of a search depend on. It contains neither the number of trials nor the
// deadline, nor the engine, which changes only the last digits (see docs/repeating.md): a search may continue on
// another engine.
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

// ID is equal for searches with the same trials: of the same dataset, splits, space, rungs, seed and other settings.
// The records of the search's runs have this ID as their profile.
func (s *Search) ID() string {
	key, err := results.Key(s.definition())
	if err != nil {
		panic(err) // plain data
	}
	const short = 12
	return results.Search + "-" + key[:short]
}

// checksum is the checksum of the graph as a model sees it, without test nodes and their labels.
func (b Blind) checksum(c train.Config) string { return models.Seen(c.Config, b.graph).Checksum() }

// Metric is the metric, on validation nodes, by which trials are compared.
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

// Run makes trials until none is left, or until the deadline. Where ctx is cancelled, the current trial keeps its
// state, and the error says so; the same search continues from there. A trial that diverges or fails, for instance
// because it needs more memory than there is, counts as worse than all others; if all of the first few fail, that is
// an error. A trial that failed before Run began is tried again, once.
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
