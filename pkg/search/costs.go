package search

import (
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/runs"
)

// costs predicts how long a step takes. If the trial has reached the rung below, the prediction uses the time per epoch
// that it had until then. Otherwise it uses recorded runs of the same compiled program on this machine. If there are no
// such runs, it uses all trials of this search on this machine. In this last case, the prediction assumes that the time
// of a training, without the time to compile, is proportional to the training's amount of work
// ([runs.Task.Size]).
type costs struct {
	recorded *runs.Costs
	machine  runs.Machine
}

func newCosts(store *runs.Store, engine string) (*costs, error) {
	all, err := store.Find(runs.Query{Status: []string{runs.OK, runs.Diverged}})
	if err != nil {
		return nil, err
	}
	return &costs{runs.NewCosts(all, engine), runs.Begin(runs.Search).Machine}, nil
}

// seconds returns the predicted time of the step s. The argument named of has the outcomes of the search so far. The
// argument kept tells whether there is a checkpoint from which the training can continue. If there is none, all epochs
// count: a trial whose records were imported from another machine starts over. The result is 0 if no time can be
// predicted, or if the training has already ended at a lower rung.
func (c *costs) seconds(dataset string, s Step, of known, kept bool) float64 {
	before, _ := of.of(Job{s.Trial, s.Rung - 1}, s.Split)
	if before.Ended {
		return 0
	}
	if before.Epochs > 0 {
		left := s.Until
		if kept {
			left -= before.Epochs
		}
		return before.CompileSeconds + float64(left)*pace(before)
	}
	task := runs.Task{Kind: runs.Search, Dataset: dataset, Split: runs.NoSplit, Config: s.Config}
	task.Config.Epochs = s.Until
	if seconds := c.recorded.Of(task).Seconds; seconds > 0 {
		return seconds
	}
	var shares, compiles []float64
	for _, t := range of {
		for _, o := range t.outcomes() {
			other := task
			err := other.Config.UnmarshalJSON(o.record.Config)
			if err != nil || o.Epochs == 0 || !o.record.Machine.Same(c.machine) {
				continue
			}
			other.Config.Epochs = 1
			shares = append(shares, pace(o)/other.Size())
			compiles = append(compiles, o.CompileSeconds)
		}
	}
	if len(shares) == 0 {
		return 0
	}
	return metrics.Median(compiles) + metrics.Median(shares)*task.Size()
}

// pace returns the time per epoch, in seconds, of the training with the outcome o. This time includes the evaluation
// after each epoch. The result is 0 if no epoch was trained.
func pace(o Outcome) float64 {
	if o.Epochs == 0 {
		return 0
	}
	return max(o.EpochSeconds, (o.Total-o.CompileSeconds)/float64(o.Epochs))
}
