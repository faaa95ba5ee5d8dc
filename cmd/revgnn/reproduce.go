package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/machine"
	"github.com/revgnn/revgnn/pkg/paper"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

type reproduction struct {
	*app
	profile, splits, shard, out string
	datasets, models            []string
	dryRun, time                bool
	checkpointEvery             time.Duration
	task                        string
	jobs                        *jobs
}

func (a *app) reproduce() *cobra.Command {
	r := &reproduction{app: a}
	c := &cobra.Command{Use: "reproduce table1…table6 | fig1…fig6 | reversing | all [flags]",
		Short: "Make the paper's tables and figures: run what is missing, then render",
		Example: "  revgnn reproduce all --dry-run\n" +
			"  revgnn reproduce table2 fig3 --profile quick\n" +
			"  revgnn reproduce all --profile paper --shard 2/8"}
	c.Long = "Makes the paper's tables and figures: runs what is missing, then renders.\n\n" +
		"Every run is recorded as it ends, and a training's state is kept every few minutes and after an interrupt: the\n" +
		"same command goes on from there. Several processes may share the file of records: each run is made by one of them."
	f := c.Flags()
	f.StringVar(&r.profile, "profile", "quick", "quick (for a laptop) or paper (the published depths, ten splits)")
	f.StringSliceVar(&r.datasets, "datasets", nil, "only these datasets")
	f.StringSliceVar(&r.models, "models", nil, "only these models")
	f.StringVar(&r.splits, "splits", "", "splits of tables 2, 3 and 6, such as 0-9 or 0,3,5 (default the profile's)")
	f.StringVar(&r.shard, "shard", "", "run only part i of n of the work, as in 2/8")
	f.BoolVar(&r.dryRun, "dry-run", false, "show the plan, and run nothing")
	f.BoolVar(&r.time, "time", false, "with --dry-run: time a few steps of each program whose time is not known "+
		"yet, and keep that")
	a.runsFlag(f)
	checkpointEvery(c, &r.checkpointEvery)
	f.StringVar(&r.out, "out", "out/paper", "folder for what is rendered")
	r.jobs = a.jobs(f)
	f.StringVar(&r.task, "task", "", "run one task, given as JSON, and write its record")
	f.MarkHidden("task") // what this program calls itself with
	f.SortFlags = false
	c.RunE = func(c *cobra.Command, args []string) error {
		if r.task != "" {
			return r.alone(c.Context())
		}
		if err := r.jobs.share(c); err != nil {
			return err
		}
		return r.run(c.Context(), args)
	}
	return c
}

func (r *reproduction) run(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return usagef("nothing to reproduce given: name tables and figures (table1 to table6, fig1 to fig6), " +
			"reversing, or all")
	}
	if r.time && !r.dryRun {
		return usagef("--time goes with --dry-run: without it, runs tell their time themselves")
	}
	items, err := paper.Choose(names)
	if err != nil {
		return asUsage(err)
	}
	profile, err := paper.ParseProfile(r.profile)
	if err != nil {
		return asUsage(err)
	}
	p := r.progress()
	runner := r.runner(p, r.checkpointEvery)
	if err := r.choose(runner, profile.Profile); err != nil {
		return asUsage(err)
	}
	return r.withRecords(runs.Open, func(store *runs.Store) error {
		added, err := store.AddCommitted()
		if err != nil {
			return err
		}
		if added > 0 {
			p.line("%d run records that came with revgnn were added to %s", added, store.Path())
		}
		runner.Store = store
		return r.make(ctx, p, runner, profile, items)
	})
}

func (r *reproduction) choose(runner *runs.Runner, profile runs.Profile) (err error) {
	if runner.Shard, err = runs.ParseShard(r.shard); err != nil {
		return err
	}
	if r.splits != "" {
		if runner.Splits, err = runs.ParseSplits(r.splits); err != nil {
			return err
		}
		if k, n := slices.Max(runner.Splits), len(datasets.PaperSeeds); k >= n {
			return fmt.Errorf("the paper's datasets have no split %d: their splits are numbered 0 to %d", k, n-1)
		}
	}
	if err := runs.CheckChoice(r.datasets, r.models); err != nil {
		return err
	}
	runner.Profile, runner.Datasets, runner.Models = profile, r.datasets, r.models
	dir, err := datasets.Dir(r.data.Dir)
	runner.Absent = func(dataset string) string {
		if !r.data.Offline || !runs.IsPublic(data.Base(dataset)) {
			return ""
		}
		if why := datasets.Absent(dataset, dir); why != "" {
			return "not run: dataset " + why
		}
		return ""
	}
	return err
}

// make makes the runs that have no record yet, and then tables and figures, or only shows the plan.
func (r *reproduction) make(ctx context.Context, p *progress, runner *runs.Runner, profile paper.Profile,
	items []paper.Item) error {
	work, failed := paper.Work(profile, items), 0
	runner.Ended = func(record runs.Record) {
		if record.Status == runs.Failed {
			failed++
		}
		if record.Status != runs.OK {
			p.line("%s: %s", record.Status, record.Message)
		}
	}
	if r.time {
		if err := runner.Time(ctx, work); err != nil {
			return err
		}
	}
	plan, err := runner.Plan(work)
	if err != nil {
		return err
	}
	needed := func(is func(runs.Step) bool) bool { // a shard may have a good reason to make none of them
		return r.shard != "" || slices.ContainsFunc(plan.Steps, is)
	}
	const none = "none is needed for what is named"
	for _, d := range r.datasets {
		if !needed(func(s runs.Step) bool { return data.Base(s.Dataset) == d }) {
			p.line("warning: no run on %s: %s", d, cmp.Or(strings.TrimPrefix(runner.Absent(d), "not run: "), none))
		}
	}
	for _, m := range r.models {
		if !needed(func(s runs.Step) bool { return s.Config.Model == m }) {
			p.line("warning: no run of %s: %s", m, none)
		}
	}
	if r.dryRun {
		return r.show(plan, func(w io.Writer) { planTable(w, plan) })
	}
	if err := cmp.Or(paper.CanDraw(items), files.Writable(r.out)); err != nil {
		return err
	}
	if plan.Missing > 0 {
		p.line("profile %s: %d runs are there, %d are to be made; time: %s; memory: %s. What is done is kept in %s, "+
			"whatever happens.", r.profile, plan.Done, plan.Missing, plan.Time(), memory(plan.Bytes, plan.AtLeast),
			runner.Store.Path())
		if r.jobs.slurm() {
			err = r.jobs.workers(ctx, p, runner.Store, make([][]string, r.jobs.count), func() (runs.Plan, error) {
				return runner.Plan(work)
			})
			if err == nil {
				plan, err = runner.Plan(work)
			}
			if failed = plan.Missing; failed > 0 && err == nil {
				p.line("%d runs have no result: 'revgnn runs list --status failed' and the logs in %s say why", failed,
					filepath.Join(r.jobs.folder, "log"))
			}
		} else {
			also := 0
			also, err = r.jobs.beside(ctx, make([][]string, r.jobs.count-1), func() error { return runner.Run(ctx, work) })
			failed += also // the processes in which runs failed, as they said
		}
		if err != nil {
			return err
		}
	}
	if helps() { // the process that started this one renders
		if failed > 0 {
			return fmt.Errorf("%d of the runs failed, as said above", failed)
		}
		return nil
	}
	documents, card, err := paper.Documents(runner, profile, items)
	if err != nil {
		return err
	}
	written, err := paper.Write(r.out, profile, card, documents)
	if err != nil {
		return err
	}
	err = r.show(rendered{profile.Name, r.out, written}, func(w io.Writer) {
		fmt.Fprintf(w, "%d files in %s; start with %s\n", len(written), r.out, filepath.Join(r.out, "index.html"))
	})
	if err == nil && failed > 0 {
		err = fmt.Errorf("%d of the runs failed, as said above: the same command tries them again, and what could be "+
			"made is in %s", failed, r.out)
	}
	return err
}

type rendered struct {
	Profile string   `json:"profile"`
	Out     string   `json:"out"`
	Files   []string `json:"files"`
}

// runner returns a Runner on the engine and the datasets of the flags, which shows its progress.
func (a *app) runner(p *progress, checkpointEvery time.Duration) *runs.Runner {
	return &runs.Runner{CheckpointEvery: checkpointEvery, Began: submittedAt(), EngineName: a.engineName,
		Engine: func() (*engine.Engine, error) { return engine.Open(a.engineName) },
		Load:   func(ctx context.Context, name string) (*graphs.Graph, error) { return a.load(ctx, p, name) },
		Alone: func(ctx context.Context, t runs.Task) (runs.Record, error) {
			return runs.InOwnProcess(ctx, t, func(self, task string) *exec.Cmd {
				return exec.CommandContext(ctx, self, "reproduce", "--task", task, "--engine", a.engineName, "--data",
					a.data.Dir, "--mirror", a.data.Mirror, fmt.Sprintf("--offline=%t", a.data.Offline))
			})
		},
		Starts: func(at runs.Progress) {
			p.line("[%d/%d] %s; time left: %s", at.Number, at.Total, at.Task, at.Left())
		},
		Epoch: func(t runs.Task, e train.Epoch, left float64) {
			p.at(t.String(), int64(e.Epoch), int64(e.Epochs), "epochs",
				fmt.Sprintf("val %.4f, at most %s left", e.BestVal, runs.Duration(left)))
		},
		Notice: func(text string) { p.line("%s", oneLine(text)) },
	}
}

func (r *reproduction) alone(ctx context.Context) error {
	var t runs.Task
	if err := json.Unmarshal([]byte(r.task), &t); err != nil {
		return usagef("--task is not a task: %v", err)
	}
	p := r.progress()
	record, err := runs.ExecuteAlone(ctx, t, r.engineName,
		func(ctx context.Context, name string) (*graphs.Graph, error) { return r.load(ctx, p, name) })
	if err != nil {
		return err
	}
	return r.document(record)
}

func memory(bytes int64, atLeast bool) string {
	if atLeast {
		return "at least " + machine.Bytes(bytes)
	}
	return machine.Bytes(bytes)
}

// planTable lists the runs that are still to be made. Of those that are done it gives only the number: there may be
// thousands, also of models and datasets that were not chosen, since the paper's tables show all that is recorded.
func planTable(w io.Writer, p runs.Plan) {
	if p.Missing == 0 {
		fmt.Fprintf(w, "%d done; no run is to be made\n", p.Done)
		return
	}
	fmt.Fprintf(w, "run to be made\ttime\tmemory\n")
	for _, s := range p.Steps {
		if s.Done {
			continue
		}
		note, time := "", "not known"
		if s.Provisional {
			note = " (settings not chosen yet)"
		}
		if s.Cost.Seconds > 0 {
			time = runs.Duration(s.Cost.Seconds)
		}
		fmt.Fprintf(w, "%s%s\t%s\t%s\n", s.Task, note, time, memory(s.Cost.Bytes, s.Cost.AtLeast))
	}
	fmt.Fprintf(w, "\n%d done, %d to be made; time: %s\n", p.Done, p.Missing, p.Time())
	if p.Unknown > 0 {
		fmt.Fprintf(w, "Of %d no run on this machine tells the time; to measure it, add --time.\n", p.Unknown)
	}
}

func (a *app) claims() *cobra.Command {
	var profile string
	c := &cobra.Command{Use: "claims [ID…] [flags]",
		Short: "Put the paper's claims to the test of the runs that are there",
		Long: "Puts the paper's claims to the test of the runs that came with revgnn and those recorded since; it runs\n" +
			"nothing. Verdicts: reproduced, weaker (only part of the claim holds), not reproduced, not run.\n" +
			"With IDs, or beginnings of IDs: these claims, with the runs behind each.",
		Example: "  revgnn claims\n" +
			"  revgnn claims gain/gcn+rep table2/gcn+rep/minesweeper\n" +
			"  revgnn claims --json --profile paper"}
	f := c.Flags()
	f.StringVar(&profile, "profile", "quick", "the settings that verdicts are of: quick or paper; see reproduce")
	a.runsFlag(f)
	f.SortFlags = false
	c.RunE = func(_ *cobra.Command, ids []string) error {
		p, err := paper.ParseProfile(profile)
		if err != nil {
			return asUsage(err)
		}
		return a.withRecords(runs.Open, func(store *runs.Store) error {
			if _, err := store.AddCommitted(); err != nil {
				return err
			}
			card, err := paper.Judge(&runs.Runner{Scope: runs.Scope{Profile: p.Profile}, Store: store}, p)
			if err != nil {
				return err
			}
			if card, err = card.Choose(ids); err != nil {
				return asUsage(err)
			}
			return a.show(card, func(w io.Writer) { card.Text(w) })
		})
	}
	return c
}
