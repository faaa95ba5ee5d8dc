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

// Search is a search for settings. The state of the search is kept only as records in Store. If Store already has
// records of this search, which are those with the same ID ([Search.ID]), Run goes on from there. Several processes may
// run the same search at the same time.
type Search struct {
	// Dataset is the name of the dataset, as users type it.
	Dataset string
	// Graphs has one graph for each split. A trial's score is the mean of its validation metrics on these graphs.
	Graphs []Blind
	// Space has the settings that are drawn for each trial, with their ranges. Fixed has the names, in JSON, of
	// settings that are not drawn.
	Space *Space
	Fixed []string
	// Base has the model and all settings that are not drawn, such as Patience. Base.Epochs is the number of epochs of
	// a complete training, which is the last rung of Schedule. Base.Seed is the seed for drawing settings, for the
	// initial parameters and for dropout.
	Base train.Config
	// Schedule has the rungs, which are the numbers of epochs after which trials are compared, and decides which trials
	// continue.
	Schedule Schedule
	// Deadline, if set, is the time at which the search ends. A step is not begun if it is predicted to end after the
	// deadline. A training that turns out to be too slow is stopped; its checkpoint is kept, and a later call of Run
	// goes on from there.
	Deadline time.Time

	Store  *results.Store
	Engine *engine.Engine
	// CheckpointEvery is the least time between two checkpoints of a training; see [train.Checkpoint].
	CheckpointEvery time.Duration
	// The following functions are called if they are set. Starts is called before a step, which trains a trial on one
	// split up to a rung. Epoch is called after each epoch. Ended is called after the step. Notice is called with other
	// messages about the step. Waits is called before this process waits, because other processes have claimed every
	// step that could be made now.
	Starts func(Step)
	Epoch  func(Step, train.Epoch)
	Ended  func(Step, Outcome)
	Notice func(Step, string)
	Waits  func()
}

// Step is the training of a trial up to a rung, on one split. Sample has the settings of the trial.
type Step struct {
	Job
	Split int
	// Until is the rung's number of epochs.
	Until int
	Sample
}

// String describes the step in a few words.
func (s Step) String() string {
	return fmt.Sprintf("trial %d to epoch %d, split %d", s.Trial, s.Until, s.Split)
}

// definition returns everything that the results of trials depend on. The number of trials and the deadline are not
// part of it, so that a search can go on with more trials or more time. The engine is not part of it either, since it
// changes only the last digits of results (see docs/repeating.md).
func (s *Search) definition() map[string]any {
	graphs := map[int]string{}
	for _, b := range s.Graphs {
		graphs[b.split] = b.checksum(s.Base)
	}
	return map[string]any{"kind": results.Search, "dataset": s.Dataset, "graphs": graphs,
		"config": s.Base.Resolved().Values(), "dimensions": s.dimensions(), "schedule": s.Schedule}
}

// dimensions returns the settings that are searched.
func (s *Search) dimensions() []Dimension { return s.Space.Of(s.Base.Model, s.Fixed...) }

// ID returns a text that is the same for searches with the same dataset, splits, space, rungs, seed and other settings.
// The trials of such searches are the same. In the records of a search, the ID takes the place of a profile's name.
func (s *Search) ID() string {
	key, err := results.Key(s.definition())
	if err != nil {
		panic(err) // plain data can always be written as JSON
	}
	const short = 12
	return results.Search + "-" + key[:short]
}

// checksum returns the checksum of the graph as a model sees it. It does not depend on labels of test nodes, since
// these are replaced.
func (b Blind) checksum(c train.Config) string { return models.Seen(c.Config, b.graph).Checksum() }

// Metric returns the name of the metric, on validation nodes, by which trials are compared.
func (s *Search) Metric() string { return train.Metric(s.Graphs[0].graph) }

// check returns an error if the search cannot be run.
func (s *Search) check() error {
	if len(s.Graphs) == 0 {
		return fmt.Errorf("a search needs a split at least")
	}
	if s.Schedule.Trials == 0 && s.Deadline.IsZero() {
		return fmt.Errorf("a search needs a number of trials or a time at which it ends")
	}
	return s.Base.Validate()
}

// Sampler returns the sampler that draws the settings of trials.
func (s *Search) Sampler() *Sampler { return NewSampler(s.dimensions(), s.Base, s.Base.Seed) }

// Run makes trials until none is left, or until the deadline. If ctx is cancelled, the current training saves a
// checkpoint, and Run returns an error that says so. A later call of Run goes on from this checkpoint. A trial that
// diverges or fails, for instance because it needs more memory than there is, counts as worse than all others. If all
// of the first few trials fail, Run returns an error. A trial that failed before Run began is tried again, once.
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
