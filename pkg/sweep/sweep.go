// Package sweep trains one model, with the same settings, on several splits of a graph. This is called a sweep. Its
// results can be kept in a folder. A sweep that was interrupted can be resumed from there.
package sweep

import (
	"context"
	"fmt"
	"time"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/results"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/trained"
)

// Options are the options of a sweep.
type Options struct {
	// Splits are the splits to train on, in this order.
	Splits []int
	// Dir is the folder of the results; if it is empty, no files are written. For each split k, the folder gets the
	// files split<k>.json (a [Record]) and split<k>.safetensors (the parameters of the best epoch). While split k is
	// trained, the folder also has the file split<k>.checkpoint (see [train.Checkpoint]). In the end the folder gets
	// result.json (the [Summary]).
	Dir string
	// If Resume is set, Run uses what Dir has already. It takes the results of splits from there, and continues
	// interrupted trainings from their checkpoints. All these results and checkpoints must come from the same graph,
	// settings, engine and versions ([train.Origin]). If Resume is not set, files that an earlier sweep has left in Dir
	// for the same splits are moved into a new folder inside Dir.
	Resume bool
	// CheckpointEvery is the least time between two checkpoints of a training; see [train.Checkpoint].
	CheckpointEvery time.Duration
	// Details asks for the [train.Details] of each split, such as curves over epochs. Computing them takes one more
	// evaluation of the model.
	Details bool
	// The following functions are called if they are set. Begin is called before a split is trained. Epoch is called
	// after each epoch. Split is called after each split, with resumed = true if the result of the split was taken from
	// Dir. Notice is called with a sentence about anything else that users should know.
	Begin  func(split int)
	Epoch  func(split int, e train.Epoch)
	Split  func(r *Record, resumed bool)
	Notice func(text string)
}

// Summary is the summary of a sweep. The mean and the standard deviations are those of the test metric over the splits
// with the status [train.OK]. If there is no such split, they are NaN, and null in JSON.
type Summary struct {
	Dataset string          `json:"dataset"`
	Model   string          `json:"model"`
	Config  train.Config    `json:"config"`
	Engine  string          `json:"engine"`
	Metric  string          `json:"metric"`
	Splits  []*train.Result `json:"splits"`
	Mean    train.Number    `json:"mean"`
	// Std is the standard deviation with the divisor n-1, and StdPopulation is the one with the divisor n, where n is
	// the number of splits with the status [train.OK].
	Std           train.Number `json:"std"`
	StdPopulation train.Number `json:"std_population"`

	kept bool // whether results are stored in a folder, so that the sweep can be resumed
}

// Run trains on every split, one after the other. If ctx is cancelled, Run returns the results so far, the last of
// which has the status [train.Interrupted]. If Dir is set, the sweep can then be resumed. If a training diverges, Run
// returns its result, too, but leaves it out of the mean and the standard deviations.
func Run(ctx context.Context, e *engine.Engine, g *graphs.Graph, c train.Config, o Options) (s *Summary, err error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	w := &sweep{Options: o, engine: e, graph: g, config: c, versions: results.Versions(),
		seen: models.Seen(c.Config, g).Checksum()}
	kept, err := w.open()
	if err != nil {
		return nil, err
	}
	if w.folder != nil {
		defer w.folder.close()
	}
	s = &Summary{Dataset: g.Name, Model: c.Model, Config: c.Resolved(), Engine: e.Name, Metric: train.Metric(g),
		Splits: []*train.Result{}, kept: o.Dir != ""}
	for _, k := range o.Splits {
		r, resumed := kept[k]
		if !resumed {
			if r, err = w.train(ctx, k); err != nil {
				return nil, err
			}
		}
		s.Splits = append(s.Splits, &r.Result)
		if o.Split != nil {
			o.Split(r, resumed)
		}
		if r.Status == train.Interrupted {
			s.summarise()
			return s, nil
		}
	}
	s.summarise()
	if o.Dir == "" {
		return s, nil
	}
	b, err := indented(s)
	if err != nil {
		return nil, err
	}
	return s, w.folder.write(resultName, b)
}

// sweep is a sweep in progress.
type sweep struct {
	Options
	engine   *engine.Engine
	graph    *graphs.Graph
	config   train.Config
	versions map[string]string
	// seen is the checksum of the graph that [models.Seen] returns.
	seen string
	// folder is the open folder Dir; it is nil if no files are written.
	folder *folder
}

// open opens Dir, the folder for the results. If Resume is set, open returns the results that an earlier sweep has left
// there, by the number of the split. Otherwise it moves the files of the earlier sweep into a new folder inside Dir
// (see [folder.setAside]), and returns no results.
func (w *sweep) open() (kept map[int]*Record, err error) {
	if w.Dir == "" {
		return nil, nil
	}
	if w.folder, err = openFolder(w.Dir, w.Splits); err != nil {
		return nil, err
	}
	if w.Resume {
		kept, err = w.folder.resume(w.graph.Name, w.origin)
	} else {
		var to string
		if to, err = w.folder.setAside(); to != "" {
			w.notice(fmt.Sprintf("what an earlier run left in %s is now in %s", w.Dir, to))
		}
	}
	if err != nil {
		w.folder.close()
	}
	return kept, err
}

func (w *sweep) notice(text string) {
	if w.Notice != nil {
		w.Notice(text)
	}
}

func (w *sweep) origin(split int) (train.Origin, error) {
	return train.NewOrigin(w.engine, w.seen, split, w.config, w.versions)
}

// train trains on one split. It stores the result in Dir, unless the training was interrupted.
func (w *sweep) train(ctx context.Context, split int) (*Record, error) {
	if w.Begin != nil {
		w.Begin(split)
	}
	origin, err := w.origin(split)
	if err != nil {
		return nil, err
	}
	r := &Record{Dataset: w.graph.Name, Model: w.config.Model, Config: w.config.Resolved(), Engine: w.engine.Name,
		Metric: train.Metric(w.graph), Origin: origin, Run: w.run(split)}
	o := &train.Options{Notice: func(text string) { w.notice(fmt.Sprintf("split %d: %s", split, text)) }}
	if w.Epoch != nil {
		o.Epoch = func(e train.Epoch) { w.Epoch(split, e) }
	}
	if w.folder != nil {
		o.Checkpoint = &train.Checkpoint{Path: w.folder.path(checkpointName(split)), Every: w.CheckpointEvery,
			Versions: w.versions}
	}
	result, err := train.Fit(ctx, w.engine, w.graph, split, w.config, o)
	if err != nil {
		return nil, fmt.Errorf("split %d: %w", split, err)
	}
	r.Result = *result
	if w.Details && r.Status != train.Interrupted && ctx.Err() == nil {
		// If the details cannot be computed, the training's result is kept without them.
		if r.Details, err = train.Describe(w.engine, w.graph, w.config, result); err != nil {
			w.notice(fmt.Sprintf("split %d: there will be no curves on its page: %v", split, err))
		}
	}
	if w.folder != nil && r.Status != train.Interrupted {
		return r, w.folder.keep(r, trained.Describe(w.graph, w.config, w.engine.Name, result))
	}
	return r, nil
}

// run returns the record of a split's run, which starts now.
func (w *sweep) run(split int) results.Record {
	run := results.Begin(results.Train)
	run.Dataset, run.Checksum, run.Model, run.Engine = w.graph.Name, w.seen, w.config.Model, w.engine.Name
	run.Split, run.Seed = split, w.config.Seed+uint64(split)
	return run
}

// OK tells whether all splits have the status [train.OK].
func (s *Summary) OK() bool { return s.count(train.OK) == len(s.Splits) }

// count returns the number of splits with the given status.
func (s *Summary) count(status string) (n int) {
	for _, r := range s.Splits {
		if r.Status == status {
			n++
		}
	}
	return n
}

// Complaint returns a sentence that says what went wrong. It is empty if nothing went wrong.
func (s *Summary) Complaint() string {
	bad := len(s.Splits) - s.count(train.OK)
	for _, r := range s.Splits {
		switch r.Status {
		case train.OK:
		case train.Interrupted:
			remedy := "the same command with --resume goes on from there"
			if !s.kept {
				remedy = "with --out, the state is kept, and --resume goes on from there"
			}
			return fmt.Sprintf("interrupted in split %d after %d epochs; %s", r.Split, r.Epochs, remedy)
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
