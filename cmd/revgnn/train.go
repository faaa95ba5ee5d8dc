package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

func (a *app) train() *cobra.Command {
	c := &cobra.Command{Use: "train --dataset NAME [flags]", Short: "Train a model on each split of a dataset",
		Args:    noArguments,
		Example: "  revgnn train --dataset NAME --model MODEL --forward 1 --splits 0-9 --out out/run"}
	c.Long = "Trains a model on each split of a dataset.\n\n" + interruption + modelsHeading + modelList()
	s := about(c, offer{})
	var (
		splits string
		o      runs.SweepOptions
	)
	f := c.Flags()
	f.StringVar(&splits, "splits", "", "splits to train on, such as 0-9 or 0,3,5 (default all)")
	f.StringVar(&o.Dir, "out", "", "folder for each split's result and weights, and for result.json")
	f.BoolVar(&o.Resume, "resume", false, "take splits that --out already holds from there, and go on with one that was "+
		"interrupted or killed, or with all if --epochs is more; without, they are set aside")
	checkpointEvery(c, &o.CheckpointEvery)
	jobs := a.jobs(f)
	a.recorded(f)
	c.RunE = func(c *cobra.Command, _ []string) error {
		config, err := s.config()
		if err != nil {
			return err
		}
		if o.Resume && o.Dir == "" {
			return usagef("--resume needs --out with the folder to resume from")
		}
		if (jobs.count > 1 || jobs.slurm()) && o.Dir == "" {
			return usagef("--jobs needs --out with a folder, where the processes leave what they train")
		}
		if splits != "" {
			if o.Splits, err = runs.ParseSplits(splits); err != nil {
				return asUsage(err)
			}
		}
		if err := jobs.share(c); err != nil {
			return err
		}
		if o.Dir != "" {
			if err := files.Writable(o.Dir); err != nil {
				return err
			}
		}
		if jobs.slurm() {
			known, err := jobs.rejoin(c.Context(), a.progress())
			if err != nil {
				return err
			}
			o.Resume = o.Resume || known
		}
		return a.recording(c.Context(), s.dataset, func(r *recorder) error {
			if splits == "" {
				for k := range r.graph.Splits {
					o.Splits = append(o.Splits, k)
				}
			}
			if err := runs.CheckSplits(o.Splits, r.graph, config); err != nil {
				return asUsage(err)
			}
			p := r.progress
			if k, _ := models.Lookup(config.Model); s.model == k.Name && k.Confused != "" {
				p.line("%s", k.Confused)
			}
			p.line("training %s on %s, splits %v, engine %s", config.Model, r.graph.Name, o.Splits, r.engine.Name)
			p.line("features: %s", r.graph.ListFeatures())
			if config.InputGraph(r.graph).Weighted() {
				p.line("edges: with weights, which %s reads", config.Model)
			}
			o.Epoch = func(split int, e train.Epoch) {
				p.at(fmt.Sprintf("split %d", split), int64(e.Epoch), int64(e.Epochs), "epochs",
					fmt.Sprintf("loss %.4f val %.4f best %.4f", e.Loss, e.Val, e.BestVal))
			}
			o.Split = func(r *runs.SplitRecord, resumed bool) {
				what := fmt.Sprintf("%s after %d epochs in %.1f s", r.Status, r.Epochs, r.Seconds)
				if resumed {
					what = r.Status + ", kept from before"
				}
				p.line("split %d: validation %.4f, test %.4f (epoch %d); %s", r.Split, r.Val, r.Test, r.BestEpoch, what)
			}
			o.Notice = func(text string) { p.line("%s", text) }
			if r.store != nil {
				o.Record = r.add
			} else if helps() { // so that the results have what a record has
				o.Record = func(runs.Record, bool) {}
			}
			if jobs.count > 1 || jobs.slurm() {
				o.Beside = func(splits []int) error { return jobs.train(c.Context(), p, o.Dir, splits) }
			}
			summary, err := runs.Sweep(c.Context(), r.engine, r.graph, config, o)
			p.end()
			if summary == nil || err != nil && len(summary.Splits) == 0 {
				return err
			}
			if err == nil {
				for _, text := range summary.Warnings() {
					p.line("warning: %s", text)
				}
			}
			if text := summary.Complaint(); err == nil && text != "" {
				err = errors.New(text)
			}
			// What was trained before an error is not lost.
			return errors.Join(err, a.show(summary, func(w io.Writer) { summaryTable(w, summary) }))
		})
	}
	return c
}

// train trains on splits in processes that leave the results in dir. What fails there is for the caller to find.
func (j *jobs) train(ctx context.Context, p *progress, dir string, splits []int) error {
	if len(splits) == 0 {
		return nil
	}
	lists := make([][]string, min(j.count, len(splits)))
	for i, k := range splits {
		lists[i%len(lists)] = append(lists[i%len(lists)], strconv.Itoa(k))
	}
	var more [][]string
	for _, list := range lists {
		more = append(more, []string{"--resume", "--out=" + dir, "--splits=" + strings.Join(list, ",")})
	}
	if j.slurm() {
		for i := range more {
			more[i] = append(more[i], "--runs=")
		}
		if err := j.workers(ctx, p, nil, more, nil); err != nil {
			return err
		}
		for _, k := range splits {
			if !runs.HasSplit(dir, k) {
				return fmt.Errorf("no worker has trained on split %d: the logs are in %s, and the same command with --resume "+
					"goes on", k, filepath.Join(j.folder, "log"))
			}
		}
		return nil
	}
	_, err := j.beside(ctx, more, func() error { return nil })
	return err
}

const interruption = "With --out, the state of a training is kept every few minutes and after an interrupt (Ctrl-C, " +
	"SIGTERM, SIGHUP,\nSIGUSR1), which ends it after the current epoch; a second Ctrl-C ends it at once. The same " +
	"command with --resume goes\non from there, and comes to the same numbers as if nothing had happened."

func checkpointEvery(c *cobra.Command, every *time.Duration) {
	c.Flags().DurationVar(every, "checkpoint-every", train.CheckpointEvery, "time between two checkpoints of a training, "+
		"as in 90s or 10m: what a crash can cost")
	c.PreRunE = func(*cobra.Command, []string) error {
		if *every <= 0 {
			return usagef("checkpoint-every is %s: it must be a time above zero, as in 90s or 10m", *every)
		}
		return nil
	}
}

func summaryTable(w io.Writer, s *runs.Summary) {
	fmt.Fprintf(w, "%s\t%s\t%s\n\n", s.Dataset, s.Model, s.Engine)
	fmt.Fprintf(w, "split\tvalidation\ttest\tepochs\tbest\ts/epoch\titerations\tadjoint\tstatus\n")
	for _, r := range s.Splits {
		fmt.Fprintf(w, "%d\t%.4f\t%.4f\t%d\t%d\t%.4f\t%.2f\t%.2f\t%s\n", r.Split, r.Val, r.Test, r.Epochs, r.BestEpoch,
			r.EpochSeconds, r.Iterations.Solve, r.Iterations.Adjoint, r.Status)
	}
	population := fmt.Sprintf("; population %.4f", s.StdPopulation)
	if text := overSplits(s.Mean, s.Std, len(s.Tests()), population); text != "" {
		fmt.Fprintf(w, "\n%s\t%s\n", s.Metric, text)
	}
	// Of all measures, the means over the splits that ended well.
	vals, tests, undefined := map[string][]float64{}, map[string][]float64{}, []string(nil)
	var thresholds map[string]float64
	for _, r := range s.Splits {
		if r.Status != train.OK || r.Measures.Val == nil {
			continue
		}
		for name, v := range r.Measures.Val {
			vals[name] = append(vals[name], float64(v))
		}
		for name, v := range r.Measures.Test {
			tests[name] = append(tests[name], float64(v))
		}
		for _, text := range r.Measures.Undefined {
			undefined = append(undefined, fmt.Sprintf("split %d: %s", r.Split, text))
		}
		if len(s.Splits) == 1 {
			thresholds = r.Measures.Thresholds
		}
	}
	if len(vals) == 0 {
		return
	}
	mean := func(of map[string][]float64) func(name string) float64 {
		return func(name string) float64 { return metrics.Mean(slices.DeleteFunc(of[name], math.IsNaN)) }
	}
	fmt.Fprintln(w)
	measuresTable(w, []string{"validation", "test"}, []func(string) float64{mean(vals), mean(tests)}, thresholds,
		undefined)
}

// measuresTable has a row for each measure, with the threshold that it was computed with, and the sentences on those
// that are undefined. A column gives a measure's value by its name.
func measuresTable(w io.Writer, headings []string, columns []func(name string) float64, thresholds map[string]float64,
	undefined []string) {
	fmt.Fprintf(w, "measure\t%s\n", strings.Join(headings, "\t"))
	for _, m := range metrics.Measures {
		fmt.Fprint(w, m.Title)
		for _, column := range columns {
			text := "–"
			if v := column(m.Name); !math.IsNaN(v) {
				text = fmt.Sprintf("%.4f", v)
			}
			fmt.Fprintf(w, "\t%s", text)
		}
		if at, tuned := thresholds[m.Name]; tuned {
			fmt.Fprintf(w, "\tthreshold %.4g", at)
		}
		fmt.Fprintln(w)
	}
	for _, text := range undefined {
		fmt.Fprintln(w, files.Printable(text))
	}
}

// overSplits returns the mean over splits and its sample standard deviation, with more to say about it. A single split
// has no deviation, and no split has no text.
func overSplits(mean, std train.Number, splits int, more string) string {
	switch splits {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%.4f (one split)", mean)
	}
	return fmt.Sprintf("%.4f ± %.4f (%d splits; sample standard deviation%s)", mean, std, splits, more)
}

func modelList() string {
	var b strings.Builder
	width := 0
	for _, name := range models.Names() {
		width = max(width, len(name))
	}
	for _, k := range models.Kinds() {
		line := k.Layer
		if k.Plain != "" {
			line = k.Plain + " and its inverse, side by side"
		}
		if k.Alias != "" {
			line += "; also " + k.Alias
		}
		fmt.Fprintf(&b, "  %-*s %s (%s)\n", width, k.Name, line, k.Reference)
	}
	return strings.TrimRight(b.String(), "\n")
}
