// Package sweep trains one model on several splits of a graph, and keeps and resumes the results.
package sweep

import (
	"context"
	"fmt"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/train"
)

// Options of a sweep.
type Options struct {
	// Splits to train on, in this order.
	Splits []int
	// Dir keeps, for each split k, split<k>.json (a [Record]) and split<k>.safetensors (the kept parameters), and in
	// the end result.json (the [Summary]). Empty keeps nothing.
	Dir string
	// Resume takes the splits that Dir already holds from there; they must be of the same dataset and configuration.
	Resume bool
	// Begin, if set, is called before each split that is trained, Epoch after each epoch, and Split after each split,
	// also after one that was there already.
	Begin func(split int)
	Epoch func(split int, e train.Epoch)
	Split func(r *train.Result, resumed bool)
}

// Summary of a sweep. Mean and spread of the test metric are over the splits that went well;
// they are null without any.
type Summary struct {
	Dataset string          `json:"dataset"`
	Model   string          `json:"model"`
	Config  train.Config    `json:"config"`
	Engine  string          `json:"engine"`
	Metric  string          `json:"metric"`
	Splits  []*train.Result `json:"splits"`
	Mean    train.Number    `json:"mean"`
	// Std has the divisor n-1, StdPopulation n.
	Std           train.Number `json:"std"`
	StdPopulation train.Number `json:"std_population"`
}

// Run trains on every split, one after the other. Where ctx is cancelled it returns what there is, the last split with
// the status [train.Interrupted]; such a split is not kept in Dir, so that resuming trains it again. A split that
// diverged is kept, and counts neither for the mean nor for the spread. An error means that no summary could be made.
func Run(ctx context.Context, e *engine.Engine, g *graphs.Graph, c train.Config, o Options) (*Summary, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	s := &Summary{Dataset: g.Name, Model: c.Model, Config: c.Resolved(), Engine: e.Name, Metric: train.Metric(g),
		Splits: []*train.Result{}}
	kept, err := o.open(s)
	if err != nil {
		return nil, err
	}
	for _, k := range o.Splits {
		r, resumed := kept[k]
		if !resumed {
			if r, err = o.train(ctx, e, g, k, c, s); err != nil {
				return nil, err
			}
		}
		s.Splits = append(s.Splits, r)
		if o.Split != nil {
			o.Split(r, resumed)
		}
		if r.Status == train.Interrupted {
			s.summarise()
			return s, nil
		}
	}
	s.summarise()
	if o.Dir != "" {
		return s, writeJSON(o.Dir, "result.json", s)
	}
	return s, nil
}

// open checks that Dir can be written to, and reads the results to resume from.
func (o Options) open(s *Summary) (kept map[int]*train.Result, err error) {
	if o.Dir == "" {
		return nil, nil
	}
	if err := files.Writable(o.Dir); err != nil {
		return nil, err
	}
	if !o.Resume {
		return nil, nil
	}
	return resume(o.Dir, s, o.Splits)
}

// train trains on one split, and keeps the result unless it was interrupted.
func (o Options) train(ctx context.Context, e *engine.Engine, g *graphs.Graph, split int, c train.Config,
	s *Summary) (*train.Result, error) {
	if o.Begin != nil {
		o.Begin(split)
	}
	r, err := train.Fit(ctx, e, g, split, c, observer(o.Epoch, split))
	if err != nil {
		return nil, fmt.Errorf("split %d: %w", split, err)
	}
	if o.Dir != "" && r.Status != train.Interrupted {
		if err := keep(o.Dir, s, r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func observer(f func(int, train.Epoch), split int) func(train.Epoch) {
	if f == nil {
		return nil
	}
	return func(e train.Epoch) { f(split, e) }
}

// OK tells whether every split went well.
func (s *Summary) OK() bool { return s.count(train.OK) == len(s.Splits) }

// count of splits with a status.
func (s *Summary) count(status string) (n int) {
	for _, r := range s.Splits {
		if r.Status == status {
			n++
		}
	}
	return n
}

// Complaint says in a sentence what went wrong; empty where nothing did.
func (s *Summary) Complaint() string {
	bad := len(s.Splits) - s.count(train.OK)
	for _, r := range s.Splits {
		switch r.Status {
		case train.OK:
		case train.Interrupted:
			return fmt.Sprintf("interrupted in split %d after %d epochs; "+
				"with --out and --resume the finished splits need not run again", r.Split, r.Epochs)
		default:
			return fmt.Sprintf("%d of %d splits failed and do not count for the mean, first split %d: %s",
				bad, len(s.Splits), r.Split, r.Message)
		}
	}
	return ""
}

func (s *Summary) summarise() {
	var tests []float64
	for _, r := range s.Splits {
		if r.Status == train.OK {
			tests = append(tests, float64(r.Test))
		}
	}
	s.Mean = train.Number(metrics.Mean(tests))
	s.Std = train.Number(metrics.SampleStd(tests))
	s.StdPopulation = train.Number(metrics.PopulationStd(tests))
}
