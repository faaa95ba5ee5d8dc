package search

import (
	"github.com/revgnn/revgnn/pkg/experiment"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/results"
)

// costs predict how long steps take. The prediction is made from runs of the same compiled program on this machine that
// are older than the search. If there are none, it is made from this search's trials on this machine: the time of a
// step is then in proportion to its size ([experiment.Task.Size]).
type costs struct {
	recorded *experiment.Costs
	machine  results.Machine
}

func newCosts(store *results.Store, engine string) (*costs, error) {
	all, err := store.Find(results.Query{Status: []string{results.OK, results.Diverged}})
	if err != nil {
		return nil, err
	}
	return &costs{experiment.NewCosts(all, engine), results.Begin(results.Search).Machine}, nil
}

// seconds is the predicted time of a step; 0 if nothing is known.
func (c *costs) seconds(dataset string, s Step, of known) float64 {
	before, _ := of.of(Job{s.Trial, s.Rung - 1}, s.Split)
	if before.Ended {
		return 0
	}
	if before.Epochs > 0 { // this training has reached the rung before
		return before.CompileSeconds + float64(s.Until-before.Epochs)*pace(before)
	}
	task := experiment.Task{Kind: results.Search, Dataset: dataset, Split: results.NoSplit, Config: s.Config}
	task.Config.Epochs = s.Until
	if seconds := c.recorded.Of(task).Seconds; seconds > 0 {
		return seconds
	}
	var shares, compiles []float64
	for _, t := range of {
		for _, o := range t.outcomes() {
			other := task
			err := other.Config.UnmarshalJSON(o.record.Config)
			if err != nil || o.Epochs == 0 || o.record.Machine != c.machine {
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

// pace is the time of an epoch in seconds, including its evaluation.
func pace(o Outcome) float64 {
	if o.Epochs == 0 {
		return 0
	}
	return max(o.EpochSeconds, (o.Total-o.CompileSeconds)/float64(o.Epochs))
}
