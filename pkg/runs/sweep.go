package runs

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/machine"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/trained"
)

// SweepOptions are the options of [Sweep].
type SweepOptions struct {
	Splits []int
	// Dir is the folder for results; "" for none. For each split k it gets split<k>.json (a [SplitRecord]),
	// split<k>.safetensors (the weights after the best epoch) and, during the training, split<k>.checkpoint; at the end
	// of the sweep result.json (the [Summary]).
	Dir string
	// Resume takes results from Dir and goes on from checkpoints there; both must be of the same graph, settings,
	// engine and software ([train.Origin]). Otherwise the files of an earlier sweep for these splits are moved into a
	// new subfolder.
	Resume          bool
	CheckpointEvery time.Duration
	// Details adds [train.Details], such as curves, to each split, for one more evaluation of the model.
	Details bool
	// These may be nil. Split is told whether the result was taken from Dir.
	Begin  func(split int)
	Epoch  func(split int, e train.Epoch)
	Split  func(r *SplitRecord, resumed bool)
	Notice func(text string)
}

// Summary is the summary of a sweep. Mean and deviations are of the test metric over the splits with the status
// [train.OK] and with test nodes. Without such splits they are NaN, which is null in JSON.
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

	kept bool // whether results are stored in a folder, so that the sweep can be resumed
}

// Sweep trains a model on each of the splits, one after the other. If ctx is cancelled, it returns the results so far;
// the last one is [train.Interrupted]. A training that diverges is in the summary, but does not count for the mean. If
// one cannot be made, the error comes together with the summary of the splits before it.
func Sweep(ctx context.Context, e *engine.Engine, g *graphs.Graph, c train.Config,
	o SweepOptions) (s *Summary, err error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	w := &sweep{SweepOptions: o, engine: e, graph: g, config: c, versions: machine.Versions(),
		seen: c.InputGraph(g).Checksum()}
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
				s.summarise()
				return s, err
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

type sweep struct {
	SweepOptions
	engine   *engine.Engine
	graph    *graphs.Graph
	config   train.Config
	versions map[string]string
	// seen is the checksum of the graph as the model reads it ([models.Config.InputGraph]).
	seen string
	// folder is nil if there is no Dir.
	folder *folder
}

// open opens the folder, and returns the results that it has if the sweep is resumed.
func (w *sweep) open() (kept map[int]*SplitRecord, err error) {
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

// train trains on one split, and stores record and weights unless it was interrupted.
func (w *sweep) train(ctx context.Context, split int) (*SplitRecord, error) {
	if w.Begin != nil {
		w.Begin(split)
	}
	origin, err := w.origin(split)
	if err != nil {
		return nil, err
	}
	run, err := Start(Task{Kind: Train, Dataset: w.graph.Name, Config: w.config, Split: split}, w.seen, w.engine.Name)
	if err != nil {
		return nil, err
	}
	run.Config = nil // the record of the split has it
	r := &SplitRecord{Dataset: w.graph.Name, Model: w.config.Model, Config: w.config.Resolved(), Engine: w.engine.Name,
		Metric: train.Metric(w.graph), Origin: origin, Run: run}
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
	if w.Details && (r.Status == train.Interrupted || ctx.Err() == nil) {
		// The result of the training is kept without the details.
		if r.Details, err = train.Describe(w.engine, w.graph, w.config, result); err != nil {
			w.notice(fmt.Sprintf("split %d: there will be no curves on its page: %v", split, err))
		}
	}
	if w.folder != nil && r.Status != train.Interrupted {
		return r, w.folder.keep(r, trained.Describe(w.graph, w.config, w.engine.Name, result))
	}
	return r, nil
}

// OK tells whether all splits have the status [train.OK].
func (s *Summary) OK() bool {
	return !slices.ContainsFunc(s.Splits, func(r *train.Result) bool { return r.Status != train.OK })
}

// Complaint returns a sentence that says what went wrong, or "".
func (s *Summary) Complaint() string {
	var diverged []*train.Result
	for _, r := range s.Splits {
		if r.Status == train.Diverged {
			diverged = append(diverged, r)
		}
		if r.Status != train.Interrupted {
			continue
		}
		remedy := "the same command with --resume goes on from there"
		if !s.kept {
			remedy = "with --out, the state is kept, and --resume goes on from there"
		}
		return fmt.Sprintf("interrupted in split %d after %d epochs; %s", r.Split, r.Epochs, remedy)
	}
	if len(diverged) > 0 {
		return fmt.Sprintf("%d of %d splits diverged and do not count for the mean, first split %d: %s", len(diverged),
			len(s.Splits), diverged[0].Split, diverged[0].Message)
	}
	return ""
}

// Tests returns the test metrics that count for the mean.
func (s *Summary) Tests() (tests []float64) {
	for _, r := range s.Splits {
		if r.Status == train.OK && !math.IsNaN(float64(r.Test)) {
			tests = append(tests, float64(r.Test))
		}
	}
	return tests
}

func (s *Summary) summarise() {
	tests := s.Tests()
	s.Mean = train.Number(metrics.Mean(tests))
	s.Std = train.Number(metrics.SampleStd(tests))
	s.StdPopulation = train.Number(metrics.PopulationStd(tests))
}

// maxSplit limits the list that a typing error could give.
const maxSplit = 9999

// ParseSplits parses a list such as "0-9", "0,3,5" or "0-2,7", without repetitions.
func ParseSplits(text string) ([]int, error) {
	bad := func(part string) ([]int, error) {
		return nil, fmt.Errorf("splits %q: %q is neither a number nor a range of numbers up to %d; "+
			"write for example 0-9 or 0,3,5", text, part, maxSplit)
	}
	var out []int
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		from, err := strconv.ParseUint(first, 10, 16)
		if err != nil {
			return bad(part)
		}
		to := from
		if isRange {
			if to, err = strconv.ParseUint(last, 10, 16); err != nil {
				return bad(part)
			}
		}
		if to < from || to > maxSplit {
			return bad(part)
		}
		for k := int(from); k <= int(to); k++ {
			if slices.Contains(out, k) {
				return nil, fmt.Errorf("splits %q: %d stands there twice", text, k)
			}
			out = append(out, k)
		}
	}
	return out, nil
}

// AllSplits returns the numbers of all splits of a graph.
func AllSplits(g *graphs.Graph) []int {
	out := make([]int, len(g.Splits))
	for k := range out {
		out[k] = k
	}
	return out
}

// CheckSplits returns an error if one cannot train on one of the splits: if there are no labels, no such split, no
// nodes for training or validation in it, or if its metric is undefined. It finds this before time is spent on other
// splits.
func CheckSplits(splits []int, g *graphs.Graph) error {
	if err := HasSplits(splits, g); err != nil {
		return err
	}
	for _, k := range splits {
		if err := g.Teaches(k); err != nil {
			return err
		}
		s := g.Splits[k]
		for _, part := range []struct {
			name           string
			mask           []bool
			needed, judged bool // whether there must be nodes, and whether the metric is computed from them
		}{{"training", s.Train, true, false}, {"validation", s.Val, true, true}, {"test", s.Test, false, true}} {
			switch {
			case part.needed && !slices.Contains(part.mask, true):
				return fmt.Errorf("split %d of %s has no %s nodes: add some to its mask, or choose other splits", k, g.Name,
					part.name)
			case part.judged && g.NumClasses <= 2 && oneClass(g, part.mask):
				return fmt.Errorf("split %d of %s: its %s nodes are all of one class, for which ROC-AUC is undefined: "+
					"choose other splits, or give your own", k, g.Name, part.name)
			}
		}
	}
	return nil
}

// oneClass tells whether there are nodes in the mask, and all of them have the same label.
func oneClass(g *graphs.Graph, mask []bool) bool {
	labels := map[int32]bool{}
	for i, in := range mask {
		if in {
			labels[g.Labels[i]] = true
		}
	}
	return len(labels) == 1
}

// HasSplits returns an error if a graph has no labels or lacks one of the splits.
func HasSplits(splits []int, g *graphs.Graph) error {
	if g.Labelled() == 0 {
		return fmt.Errorf("%s has no labels, which training needs: add them to it (a column label in nodes.csv, or an "+
			"array node_labels in an .npz), or have a model that was trained before predict them", g.Name)
	}
	if len(g.Splits) == 0 {
		return fmt.Errorf("%s has no splits to train on: add masks to it", g.Name)
	}
	for _, k := range splits {
		if k < 0 || k >= len(g.Splits) {
			return fmt.Errorf("%s has no split %d: its splits are numbered 0 to %d", g.Name, k, len(g.Splits)-1)
		}
	}
	return nil
}
