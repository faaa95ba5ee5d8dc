package search

import (
	"context"

	"github.com/revgnn/revgnn/pkg/experiment"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/train"
)

// Evaluation is what chosen settings come to on test nodes: by ordinary trainings, made after the search.
type Evaluation struct {
	Splits []Evaluated `json:"splits"`
	// Mean of the test metric over splits that went well, and its sample standard deviation.
	Mean train.Number `json:"mean"`
	Std  train.Number `json:"std"`
}

// Evaluated is a split.
type Evaluated struct {
	Split   int          `json:"split"`
	Val     train.Number `json:"val"`
	Test    train.Number `json:"test"`
	Epochs  int          `json:"epochs"`
	Status  string       `json:"status"`
	Message string       `json:"message,omitempty"`
	Record  string       `json:"record"`
}

// Evaluate trains what a search has chosen on splits, with a runner's store, engine and datasets. The trainings are
// records of kind "train" like any other, and are not made again where they are there.
func Evaluate(ctx context.Context, runner *experiment.Runner, r *Result, splits []int) (*Evaluation, error) {
	runner.Profile = experiment.Profile{Name: r.Search, Datasets: []string{r.Dataset}}
	var out *Evaluation
	work := func(v *experiment.View) {
		out = &Evaluation{}
		var tests []float64
		for _, k := range splits {
			a := experiment.Ask[experiment.Trained](v, experiment.Training(r.Dataset, k, r.Config))
			if a.Record == nil {
				continue
			}
			o := a.Outcome
			out.Splits = append(out.Splits, Evaluated{k, o.Val, o.Test, o.Epochs, a.Record.Status, a.Record.Message,
				a.Record.ID})
			if a.OK() {
				tests = append(tests, float64(o.Test))
			}
		}
		out.Mean, out.Std = train.Number(metrics.Mean(tests)), train.Number(metrics.SampleStd(tests))
	}
	if err := runner.Run(ctx, work); err != nil {
		return nil, err
	}
	view, err := runner.View()
	if err != nil {
		return nil, err
	}
	work(view)
	return out, nil
}
