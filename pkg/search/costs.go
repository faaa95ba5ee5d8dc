package search

import (
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/runs"
)

// costs predicts how long a step takes: from the trial's time per epoch up to the rung below, or else from recorded
// runs of the same program on this machine, or else from all trials of this search on this machine, in proportion to
// the amount of work ([runs.Task.Size]) without the time to compile.
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

// seconds returns the predicted time of a step; 0 if it cannot be predicted, or if the training ended at a lower rung.
// Without a checkpoint (kept) all epochs count: a trial with records from another machine starts over.
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

// pace returns the time per epoch in seconds, with the evaluation after it; 0 if there was no epoch.
func pace(o Outcome) float64 {
	if o.Epochs == 0 {
		return 0
	}
	return max(o.EpochSeconds, (o.Total-o.CompileSeconds)/float64(o.Epochs))
}
