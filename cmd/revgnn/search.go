package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/report/echarts"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/search"
	"github.com/revgnn/revgnn/pkg/train"
)

type searching struct {
	*app
	space, splits, evaluate, out, save string
	trials, reduction, least           int
	hours                              float64
	checkpointEvery                    time.Duration
}

func (a *app) search() *cobra.Command {
	s := &searching{app: a}
	c := &cobra.Command{Use: "search --dataset NAME --model MODEL --trials N | --hours H [flags]", Args: noArguments,
		Short: "Search the settings of a model on a dataset, by its validation metric",
		Example: "  revgnn search --dataset minesweeper --model sage+rep --trials 81\n" +
			"  revgnn search --dataset cora --model gcn --norm batch --hours 2 --splits 0-2 --save chosen.json\n" +
			"  revgnn search --dataset cora --model gcn --space space.json --trials 27 --evaluate 0-9"}
	c.Long = "Searches the settings of a model on a dataset: asynchronous successive halving (Li et al., MLSys 2020)\n" +
		"on the validation metric.\n\n" +
		"Trials draw settings from a space, evenly, and train for a few epochs; the best third goes on from there to\n" +
		"three times as many, and so on up to --epochs. Settings that are given are not searched. A trial has neither the\n" +
		"test nodes of its split nor their labels; --evaluate then trains the chosen settings as train does.\n\n" +
		"Every trial is recorded at every rung, and its state is kept: after an interrupt or a crash the same command\n" +
		"goes on, also with more trials, and several processes may share a search. See docs/search.md."
	subject := about(c, offer{})
	f := c.Flags()
	f.StringVar(&s.space, "space", data.PublishedSpace, "ranges to draw settings from: a file, or "+
		strings.Join(data.SpaceNames(), " or "))
	f.IntVar(&s.trials, "trials", 0, "most trials")
	f.Float64Var(&s.hours, "hours", 0, "most hours, of this command: what would not come to its rung in time is "+
		"not begun")
	f.StringVar(&s.splits, "splits", "0", "splits that a trial's validation metric is averaged over, as in 0-2")
	f.IntVar(&s.reduction, "reduction", 3, "of this number of trials, the best one goes on from a rung to the next")
	f.IntVar(&s.least, "min-epochs", 0, "the first rung has at least so many epochs (default --epochs, divided "+
		"three times by --reduction; for cpgnn, more than --pretrain)")
	f.StringVar(&s.evaluate, "evaluate", "", "then train the chosen settings on these splits, such as 0-9, "+
		"and test them")
	f.StringVar(&s.save, "save", "", "file to put the chosen settings into, beside those of other searches")
	f.StringVar(&s.out, "out", "", "folder for figures of the search")
	f.StringVar(&a.runsFile, "runs", "",
		"SQLite file of run records (default: $REVGNN_RUNS, else "+runs.DefaultFile+")")
	checkpointEvery(f, &s.checkpointEvery)
	c.RunE = func(c *cobra.Command, _ []string) error {
		config, err := subject.config()
		if err != nil {
			return err
		}
		var fixed []string
		for _, setting := range subject.settings() {
			if f.Lookup(setting.flag).Changed {
				fixed = append(fixed, setting.Key())
			}
		}
		return s.run(c.Context(), subject.dataset, config, fixed)
	}
	return c
}

// searched is the JSON document of search.
type searched struct {
	*search.Result
	Engine string `json:"engine"`
	// Evaluation is that of --evaluate, Saved the file of --save, and Files the figures in --out.
	Evaluation *search.Evaluation `json:"evaluation,omitempty"`
	Saved      string             `json:"saved,omitempty"`
	Files      []string           `json:"files,omitempty"`
}

func (s *searching) run(ctx context.Context, dataset string, config train.Config, fixed []string) (err error) {
	it, splits, evaluate, err := s.read(config)
	if err != nil {
		return err
	}
	it.Dataset, it.Fixed = dataset, fixed
	if _, err := it.Sampler().Trial(0); err != nil {
		return asUsage(err)
	}
	store, err := runs.Open(s.records())
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, store.Close()) }()
	p := s.progress()
	e, g, err := s.prepare(ctx, p, dataset)
	if err != nil {
		return err
	}
	if err := cmp.Or(runs.HasSplits(splits, g), runs.CheckSplits(evaluate, g)); err != nil {
		return asUsage(err)
	}
	if it.Graphs, err = search.Blindfolds(g, splits); err != nil {
		return err
	}
	it.Store, it.Engine = store, e
	tell := p.search(it)
	r, err := it.Run(ctx)
	p.end()
	if err != nil {
		return err
	}
	if !r.Found() {
		return fmt.Errorf("none of %d trials came to a rung: give the search more trials or hours, or an easier space",
			len(r.Trials))
	}
	tell(r)
	out := searched{Result: r, Engine: e.Name}
	if evaluate != nil {
		if out.Evaluation, err = s.test(ctx, p, it, g, r, evaluate); err != nil {
			return err
		}
	}
	if err := s.keep(ctx, &out); err != nil {
		return err
	}
	return s.show(out, func(w io.Writer) { searchTable(w, out) })
}

// read checks the flags before any data is loaded.
func (s *searching) read(config train.Config) (it *search.Search, splits, evaluate []int, err error) {
	bad := func(format string, args ...any) (*search.Search, []int, []int, error) {
		return nil, nil, nil, usagef(format, args...)
	}
	switch {
	case s.trials < 0 || math.IsNaN(s.hours) || s.hours < 0 || s.trials == 0 && s.hours == 0:
		return bad("trials is %d and hours is %g: give --trials, --hours, or both, above zero", s.trials, s.hours)
	case s.hours > 24*366:
		return bad("hours is %g: give a year at most", s.hours)
	case s.reduction < 2:
		return bad("reduction is %d: choose 2 at least", s.reduction)
	case s.least < 0 || s.least > config.Epochs:
		return bad("min-epochs is %d: choose from 1 to the %d of --epochs", s.least, config.Epochs)
	}
	if err := checkEvery(s.checkpointEvery); err != nil {
		return nil, nil, nil, err
	}
	if splits, err = runs.ParseSplits(s.splits); err == nil && s.evaluate != "" {
		evaluate, err = runs.ParseSplits(s.evaluate)
	}
	if err != nil {
		return nil, nil, nil, asUsage(err)
	}
	space, err := search.OpenSpace(s.space)
	if err != nil {
		return nil, nil, nil, asUsage(err)
	}
	if err := s.places(); err != nil {
		return nil, nil, nil, err
	}
	least := s.least
	if least == 0 {
		least = max(1, config.Epochs/(s.reduction*s.reduction*s.reduction))
	}
	// In pretraining, the metrics say little about the model: trials are compared when it is over.
	if least <= config.Pretraining() {
		least = config.Pretraining() + 1
		if s.least > 0 || least > config.Epochs {
			return bad("the first %d epochs of %s are pretraining, and trials can be compared only later: give "+
				"--min-epochs and --epochs above %d", config.Pretraining(), config.Model, config.Pretraining())
		}
	}
	it = &search.Search{Space: space, Base: config, CheckpointEvery: s.checkpointEvery,
		Schedule: search.NewSchedule(config.Epochs, least, s.reduction, s.trials)}
	if s.hours > 0 {
		it.Deadline = time.Now().Add(time.Duration(s.hours * float64(time.Hour)))
	}
	return it, splits, evaluate, nil
}

// places checks --out and --save.
func (s *searching) places() error {
	if s.out != "" {
		if err := echarts.CanDraw(); err != nil {
			return err
		}
		if err := files.Writable(s.out); err != nil {
			return err
		}
	}
	if s.save == "" {
		return nil
	}
	if _, err := search.OpenChoices(s.save); err != nil {
		return err
	}
	return files.Writable(filepath.Dir(s.save))
}

// test trains and tests the chosen settings, as the command train does.
func (s *searching) test(ctx context.Context, p *progress, it *search.Search, g *graphs.Graph, r *search.Result,
	splits []int) (*search.Evaluation, error) {
	runner := &runs.Runner{Store: it.Store, CheckpointEvery: s.checkpointEvery, EngineName: it.Engine.Name,
		Engine: func() (*engine.Engine, error) { return it.Engine, nil },
		Load:   func(context.Context, string) (*graphs.Graph, error) { return g, nil },
		Starts: func(at runs.Progress) { p.line("[%d/%d] %s", at.Number, at.Total, at.Task) },
		Epoch: func(t runs.Task, e train.Epoch, left float64) {
			p.at(t.String(), int64(e.Epoch), int64(e.Epochs), "epochs",
				fmt.Sprintf("val %.4f, at most %s left", e.BestVal, runs.Duration(left)))
		},
		Notice: func(t runs.Task, text string) { p.line("%s: %s", t, text) }}
	evaluation, err := search.Evaluate(ctx, runner, r, splits)
	p.end()
	return evaluation, err
}

func (s *searching) keep(ctx context.Context, out *searched) (err error) {
	if s.save != "" {
		if err := out.Save(ctx, s.save); err != nil {
			return err
		}
		out.Saved = s.save
	}
	if s.out != "" {
		out.Files, err = out.Draw(s.out)
	}
	return err
}
