package search

import (
	"context"
	"fmt"
	"time"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// Search is a search for settings. Its results are kept as records in Store. These records have the ID of the search
// ([Search.ID]). If Store already has records with this ID, Run goes on from these records. Several processes may run
// the same search at the same time.
type Search struct {
	// Dataset is the name of the dataset, as users type it.
	Dataset string
	// Graphs has one graph for each split. A trial's score is the mean of its validation metrics on these graphs.
	Graphs []Blind
	// Space has the ranges of settings. For each trial, values are drawn from these ranges. Fixed has the names (such
	// as weight_decay) of settings that are not drawn, even if Space has ranges for them.
	Space *Space
	Fixed []string
	// Base has the model and all settings that are not drawn, such as Patience. Base.Epochs is the number of epochs of
	// a complete training, which is the last rung of Schedule. Base.Seed is the seed for drawing settings, for the
	// initial parameters and for dropout.
	Base train.Config
	// Schedule decides which trials continue. Its rungs are the numbers of epochs after which trials are compared.
	Schedule Schedule
	// Deadline, if set, is the time at which the search ends. A step is not begun if it is predicted to end after the
	// deadline. A training that turns out to be too slow for the deadline is stopped. Its checkpoint is kept, and a
	// later call of Run goes on from this checkpoint.
	Deadline time.Time

	Store  *runs.Store
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

// definition returns what identifies a search: everything that the results of its trials depend on, except the engine,
// which changes only the last digits of results (see docs/repeating.md). The number of trials and the deadline are left
// out as well, so that a search can go on with more trials or more time.
func (s *Search) definition() map[string]any {
	graphs := map[int]string{}
	for _, b := range s.Graphs {
		graphs[b.split] = b.checksum(s.Base)
	}
	return map[string]any{"kind": runs.Search, "dataset": s.Dataset, "graphs": graphs,
		"config": s.Base.Resolved().Values(), "dimensions": s.dimensions(), "schedule": s.Schedule}
}

// dimensions returns the settings that are searched.
func (s *Search) dimensions() []Dimension { return s.Space.Of(s.Base.Model, s.Fixed...) }

// ID returns a text that identifies the search. Two searches have the same ID if they have the same dataset, splits,
// ranges, rungs, seed and other settings. They then have the same trials, too. In the records of a search, the ID
// stands where other records have the name of a profile.
func (s *Search) ID() string {
	key, err := runs.Key(s.definition())
	if err != nil {
		panic(err) // plain data can always be written as JSON
	}
	const short = 12
	return runs.Search + "-" + key[:short]
}

// checksum returns the checksum of the graph as the model of c sees it: some models do not see the directions of edges.
// The labels of test nodes do not change the checksum, since [Blindfold] has replaced these labels.
func (b Blind) checksum(c train.Config) string { return models.Seen(c.Config, b.graph).Checksum() }

// Metric returns the name of the metric by which trials are compared. The metric is computed on validation nodes.
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
// checkpoint, and Run returns an error. A later call of Run goes on from this checkpoint. A trial that diverges or
// fails, for instance because it needs more memory than there is, counts as worse than all others. If all of the first
// few trials fail, Run returns an error. A trial that failed before this call of Run is tried once more.
func (s *Search) Run(ctx context.Context) (*Result, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	w := &work{Search: s, id: s.ID(), sampler: s.Sampler(),
		claims: runs.ClaimsOf(s.Store), began: time.Now().Truncate(time.Millisecond), late: map[Job]bool{}}
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
