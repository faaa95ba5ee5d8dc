package search

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/models"
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

	Store           *runs.Store
	Engine          *engine.Engine
	CheckpointEvery time.Duration
	// These may be nil. Waits is called before this process waits, because others have claimed all that can be made
	// now.
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
// [OpenSpace]. What it lacks are graphs, store and engine.
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
	if s.Space, err = OpenSpace(space); err == nil {
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

// definition is what the results of trials depend on, except the engine, which changes only their last digits
// (docs/repeating.md). The number of trials and the deadline do not belong to it, so that a search can go on with more.
func (s *Search) definition() map[string]any {
	graphs := map[int]string{}
	for _, b := range s.Graphs {
		graphs[b.split] = b.checksum(s.Base)
	}
	return map[string]any{"kind": runs.Search, "dataset": s.Dataset, "graphs": graphs,
		"config": s.Base.Resolved().Values(), "dimensions": s.dimensions(), "schedule": s.Schedule}
}

func (s *Search) dimensions() []Dimension { return s.Space.Of(s.Base.Model, s.Fixed...) }

// ID is the same for searches with the same definition, which have the same trials. It is the Profile of their records.
func (s *Search) ID() string {
	const short = 12
	return runs.Search + "-" + keyOf(s.definition())[:short]
}

// checksum is that of the graph as the model of c sees it.
func (b Blind) checksum(c train.Config) string { return models.Seen(c.Config, b.graph).Checksum() }

// Metric returns the name of the metric by which trials are compared. The metric is computed on validation nodes.
func (s *Search) Metric() string { return train.Metric(s.Graphs[0].graph) }

func (s *Search) check() error {
	if len(s.Graphs) == 0 {
		return fmt.Errorf("a search needs a split at least")
	}
	if s.Schedule.Trials == 0 && s.Deadline.IsZero() {
		return fmt.Errorf("a search needs a number of trials or a time at which it ends")
	}
	return s.Base.Validate()
}

func (s *Search) Sampler() *Sampler { return NewSampler(s.dimensions(), s.Base, s.Base.Seed) }

// Run makes trials until none is left, or until the deadline. If ctx is cancelled, the current training saves a
// checkpoint, and Run returns an error. A trial that diverges or fails counts as worse than all others; if it failed
// before this call, it is tried once more. If all of the first few trials fail, Run returns an error.
func (s *Search) Run(ctx context.Context) (*Result, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	w := &work{Search: s, id: s.ID(), sampler: s.Sampler(),
		claims: runs.ClaimsOf(s.Store), began: time.Now().Truncate(time.Millisecond), late: map[Job]bool{}}
	if err := w.queue().Run(ctx, func(s Step, own *runs.Claim) error { return w.make(ctx, s, own) }); err != nil {
		return nil, err
	}
	return w.result()
}
