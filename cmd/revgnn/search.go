package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
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
	jobs *jobs
	search.Limits
	space, splits, evaluate, out, save string
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
	f.IntVar(&s.Trials, "trials", 0, "most trials")
	f.Float64Var(&s.Hours, "hours", 0, "most hours, of this command: what would not come to its rung in time is "+
		"not begun")
	f.StringVar(&s.splits, "splits", "0", "splits that a trial's validation metric is averaged over, as in 0-2")
	f.IntVar(&s.Reduction, "reduction", 3, "of this number of trials, the best one goes on from a rung to the next")
	f.IntVar(&s.Least, "min-epochs", 0, "the first rung has at least so many epochs (default --epochs, divided "+
		"three times by --reduction; for cpgnn, more than --pretrain)")
	f.StringVar(&s.evaluate, "evaluate", "", "then train the chosen settings on these splits, such as 0-9, "+
		"and test them")
	f.StringVar(&s.save, "save", "", "file to put the chosen settings into, beside those of other searches")
	f.StringVar(&s.out, "out", "", "folder for figures of the search")
	a.runsFlag(f)
	checkpointEvery(c, &s.checkpointEvery)
	s.jobs = a.jobs(f)
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
		if err := s.jobs.share(c); err != nil {
			return err
		}
		if s.jobs.slurm() && s.Hours > 0 {
			return usagef("--hours does not go with --on slurm, where workers may wait: give --trials, and a limit by " +
				"--sbatch time=4:00:00")
		}
		return s.run(c.Context(), subject.dataset, config, fixed)
	}
	return c
}

type searched struct {
	*search.Result
	Engine string `json:"engine"`
	// Evaluation is that of --evaluate, Saved the file of --save, and Files the figures in --out.
	Evaluation *search.Evaluation `json:"evaluation,omitempty"`
	Saved      string             `json:"saved,omitempty"`
	Files      []string           `json:"files,omitempty"`
}

func (s *searching) run(ctx context.Context, dataset string, config train.Config, fixed []string) error {
	splits, err := runs.ParseSplits(s.splits)
	var evaluate []int
	if err == nil && s.evaluate != "" {
		evaluate, err = runs.ParseSplits(s.evaluate)
	}
	if err != nil {
		return asUsage(err)
	}
	it, err := search.New(s.space, dataset, config, fixed, s.Limits)
	if err != nil {
		return asUsage(err)
	}
	it.CheckpointEvery = s.checkpointEvery
	if s.out != "" {
		if err := cmp.Or(echarts.CanDraw(), files.Writable(s.out)); err != nil {
			return err
		}
	}
	if s.save != "" {
		if _, err := search.OpenChoices(s.save); err != nil {
			return err
		}
		if err := files.Writable(filepath.Dir(s.save)); err != nil {
			return err
		}
	}
	return s.withRecords(runs.Open, func(store *runs.Store) error {
		p := s.progress()
		e, g, err := s.prepare(ctx, p, dataset)
		if err != nil {
			return err
		}
		if err := cmp.Or(runs.HasSplits(splits, g), runs.CheckSplits(evaluate, g, config)); err != nil {
			return asUsage(err)
		}
		if it.Graphs, err = search.Blindfolds(g, splits); err != nil {
			return err
		}
		it.Store, it.Engine, it.Began = store, e, submittedAt()
		var out searched
		others := slices.Repeat([][]string{{"--save=", "--out="}}, s.jobs.count)
		do := func() (err error) { // what fails in the others is among the trials
			out, err = s.make(ctx, p, it, g, evaluate)
			return err
		}
		if s.jobs.slurm() {
			if err = s.jobs.workers(ctx, p, store, others, nil); err == nil {
				it.Began, it.Deadline = s.jobs.began, time.Now() // what no worker made is left to the same command
				err = do()
			}
		} else {
			_, err = s.jobs.beside(ctx, others[1:], do)
		}
		if err != nil {
			return err
		}
		return s.show(out, func(w io.Writer) { searchTable(w, out) })
	})
}

// make searches, tests the chosen settings, and writes the files that the flags ask for.
func (s *searching) make(ctx context.Context, p *progress, it *search.Search, g *graphs.Graph, evaluate []int) (
	out searched, err error) {
	tell := p.search(it)
	r, err := it.Run(ctx)
	p.end()
	if err != nil {
		return out, err
	}
	if !r.Found() {
		return out, fmt.Errorf("none of %d trials came to a rung: give the search more trials or hours, or an easier "+
			"space", len(r.Trials))
	}
	tell(r)
	out = searched{Result: r, Engine: it.Engine.Name}
	if evaluate != nil {
		runner := s.runner(p, s.checkpointEvery)
		runner.Store, runner.Began = it.Store, it.Began
		runner.Engine = func() (*engine.Engine, error) {
			if s.jobs.slurm() {
				return nil, errors.New("the workers have not trained the chosen settings on all splits: the same command " +
					"submits what is left")
			}
			return it.Engine, nil
		}
		runner.Load = func(context.Context, string) (*graphs.Graph, error) { return g, nil }
		out.Evaluation, err = search.Evaluate(ctx, runner, r, evaluate)
		p.end()
		if err != nil {
			return out, err
		}
	}
	if s.save != "" {
		if err := out.Save(ctx, s.save); err != nil {
			return out, err
		}
		out.Saved = s.save
	}
	if s.out != "" {
		out.Files, err = out.Draw(s.out)
	}
	return out, err
}

// search shows the progress of a search on stderr, and returns a function for its end.
func (p *progress) search(it *search.Search) (end func(*search.Result)) {
	trials := "any number of trials"
	if it.Schedule.Trials > 0 {
		trials = fmt.Sprintf("%d trials", it.Schedule.Trials)
	}
	p.line("searching settings of %s on %s: %s from the space %s, rungs at %v epochs, engine %s. What is done is "+
		"kept in %s, whatever happens.", it.Base.Model, it.Dataset, trials, it.Space.Name, it.Schedule.Rungs, it.Engine.Name,
		it.Store.Path())
	it.Starts = func(s search.Step) {
		if s.Rung == 0 {
			p.line("%s: %s", s, search.Describe(s.Settings))
		} else {
			p.line("%s: goes on", s)
		}
	}
	it.Epoch = func(s search.Step, e train.Epoch) {
		p.at(s.String(), int64(e.Epoch), int64(s.Until), "epochs", fmt.Sprintf("val %.4f best %.4f", e.Val, e.BestVal))
	}
	it.Ended = func(s search.Step, o search.Outcome) {
		r := o.Record()
		if r.Status != runs.OK {
			p.line("%s: %s, %s", s, r.Status, r.Message)
			return
		}
		p.line("%s: validation %.4f (epoch %d) in %s", s, o.Val, o.BestEpoch, runs.Duration(r.Seconds))
	}
	said := map[string]bool{} // most trials would say the same of the features
	it.Notice = func(s search.Step, text string) {
		if !said[text] && (s.Rung == 0 || !strings.HasPrefix(text, "going on")) { // which is what trials do
			p.line("%s: %s", s, text)
		}
		said[text] = true
	}
	it.Waits = func(search.Step) { p.line("waiting for other processes, which are at all that can be done now") }
	return func(r *search.Result) {
		state := "the search is complete"
		if !r.Complete {
			state = "time is up; the same command goes on from here"
		}
		p.line("%s: %d trials, %d epochs, %s of training; the best is trial %d", state, len(r.Trials), r.Epochs,
			runs.Duration(r.Seconds), r.Best.Trial)
	}
}

func searchTable(w io.Writer, s searched) {
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\n\n", s.Dataset, s.Model, s.Engine, s.Search)
	fmt.Fprintf(w, "trial\trung\tepochs\tvalidation\tstatus\tsettings\n")
	const most = 10
	for _, t := range s.Top(most) {
		val := "–"
		if t.Status == runs.OK {
			val = fmt.Sprintf("%.4f", t.Val)
		}
		fmt.Fprintf(w, "%d\t%d of %d\t%.0f\t%s\t%s\t%s\n", t.Trial, t.Rung+1, len(s.Schedule.Rungs), t.Epochs, val,
			t.Status, search.Describe(t.Settings))
	}
	fmt.Fprintf(w, "\nbest\t%s %.4f on validation, trial %d of %d\n", s.Metric, s.Best.Val, s.Best.Trial, len(s.Trials))
	fmt.Fprintf(w, "settings\t%s\n", search.Describe(s.Choice().Settings))
	if e := s.Evaluation; e != nil {
		fmt.Fprintf(w, "test\t%s\n", tested(e))
	}
}

func tested(e *search.Evaluation) string {
	text := cmp.Or(overSplits(e.Mean, e.Std, len(e.Tests()), ""), "none")
	separator := "; left out: "
	for _, s := range e.Splits {
		if s.Status != runs.OK {
			text += fmt.Sprintf("%ssplit %d %s", separator, s.Split, s.Status)
			separator = ", "
		}
	}
	return text
}
