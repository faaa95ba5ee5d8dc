package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

func (a *app) runs() *cobra.Command {
	c := group("runs", "List, show, repeat, export, import and repair run records", a.runsList(), a.runsShow(),
		a.runsRerun(), a.runsExport(), a.runsImport(), a.runsRepair())
	a.runsFlag(c.PersistentFlags())
	return c
}

// choosing adds flags that choose run records.
func choosing(c *cobra.Command) *runs.Query {
	q, f := &runs.Query{}, c.Flags()
	f.StringVar(&q.Kind, "kind", "", "only "+strings.Join(runs.Kinds, ", "))
	f.StringVar(&q.Dataset, "dataset", "", "only runs on this dataset")
	f.StringVar(&q.Model, "model", "", "only runs of this model")
	f.StringSliceVar(&q.Status, "status", nil, "only runs that ended so: some of "+strings.Join(runs.Statuses, ","))
	f.StringVar(&q.Profile, "profile", "", "only runs of this profile")
	c.PreRunE = func(*cobra.Command, []string) error {
		if q.Kind != "" && !slices.Contains(runs.Kinds, q.Kind) {
			return usagef("--kind is %q: choose one of %s", q.Kind, strings.Join(runs.Kinds, ", "))
		}
		for _, s := range q.Status {
			if !slices.Contains(runs.Statuses, s) {
				return usagef("--status has %q: choose some of %s", s, strings.Join(runs.Statuses, ", "))
			}
		}
		return nil
	}
	return q
}

func (a *app) runsList() *cobra.Command {
	c := &cobra.Command{Use: "list [flags]", Short: "List run records by the time they started", Args: noArguments}
	q := choosing(c)
	c.RunE = a.records(runs.OpenExisting, func(s *runs.Store, _ []string) error {
		found, err := s.Find(*q)
		if err != nil {
			return err
		}
		return a.show(found, func(w io.Writer) {
			fmt.Fprintln(w, "id\tstarted (UTC)\tkind\tdataset\tmodel\tsplit\tstatus\tresult\tseconds")
			for _, r := range found {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.1f\n", r.ID, r.Started.UTC().Format("2006-01-02 15:04:05"),
					r.Kind, files.Printable(r.Dataset), files.Printable(r.Model), splitText(r.Split), r.Status,
					mainNumber(r), r.Seconds)
			}
		})
	})
	return c
}

func splitText(split int) string {
	if split == runs.NoSplit {
		return "–"
	}
	return fmt.Sprint(split)
}

func mainNumber(r runs.Record) string {
	var o struct {
		Test         *float64 `json:"test"`
		Val          *float64 `json:"val"`
		EpochSeconds *float64 `json:"epoch_seconds"`
		MeanAbsError *float64 `json:"mean_abs_error"`
	}
	json.Unmarshal(r.Outcome, &o) // a measurement may have other numbers by these names, or none
	switch {
	case r.Kind == runs.Train && o.Test != nil:
		return fmt.Sprintf("test %.4f", *o.Test)
	case r.Kind == runs.Search && o.Val != nil:
		return fmt.Sprintf("validation %.4f", *o.Val)
	case r.Kind == runs.Invert && o.MeanAbsError != nil:
		return fmt.Sprintf("error %.3g", *o.MeanAbsError)
	case r.Kind == runs.Bench && o.EpochSeconds != nil:
		return fmt.Sprintf("%.4g s/epoch", *o.EpochSeconds)
	}
	return "–"
}

func (a *app) runsShow() *cobra.Command {
	c := &cobra.Command{Use: "show ID [flags]",
		Short: "Show all that is recorded of a run, by its ID, the beginning of it, or last; --html makes a page of a training",
		Long: "Shows all that is recorded of a run, by its ID or the beginning of it; 'last' is the run that started last.\n\n" +
			"With --html, writes a page of a training instead, one file that loads nothing from anywhere: settings, curves over\n" +
			"epochs, the confusion matrix or ROC curve of the best epoch, residuals and iterations of the reverse process, the\n" +
			"smoothness of states by layer, and the command to repeat it. What the record does not hold, as those of\n" +
			"'reproduce' and of earlier versions, is said in its place. With --sweep it is a page of all trainings with the same\n" +
			"settings, of whatever split and seed: results by split, their mean, and curves.",
		Example: "  revgnn runs list --kind train\n  revgnn runs show last --html run.html\n" +
			"  revgnn runs show last --html sweep.html --sweep",
		Args: oneArgument("the ID of a run, or last")}
	to := c.Flags().String("html", "", "write a page of a training to this file, .html")
	sweep := c.Flags().Bool("sweep", false, "with --html: a page of all recorded trainings with the same settings on the "+
		"same graph, of whatever split and seed")
	c.PreRunE = func(c *cobra.Command, _ []string) error {
		if c.Flags().Changed("html") && !strings.EqualFold(filepath.Ext(*to), ".html") {
			return usagef("--html is %q: give the name of a file to write that ends in .html", *to)
		}
		if *sweep && *to == "" {
			return usagef("--sweep is about a page: add --html with the name of a file to write")
		}
		return nil
	}
	c.RunE = a.records(runs.OpenExisting, func(s *runs.Store, args []string) error {
		r, err := s.Get(args[0])
		if err != nil {
			return err
		}
		if *to != "" {
			return a.page(s, r, *to, *sweep)
		}
		return a.show(r, func(w io.Writer) { runTable(w, r) })
	})
	return c
}

type paged struct {
	ID   string `json:"id"`
	HTML string `json:"html"`
}

// page writes a web page about the training in the record r, or about all recorded ones with the same settings on the
// same graph, on any split and with any seed.
func (a *app) page(s *runs.Store, r *runs.Record, to string, sweep bool) error {
	about := "run " + r.ID
	page, err := "", error(nil)
	if sweep {
		var all, list []runs.Record
		if all, err = s.Find(runs.Query{Kind: runs.Train, Dataset: r.Dataset, Model: r.Model}); err != nil {
			return err
		}
		if list, err = runs.Siblings(r, all); err != nil {
			return err
		}
		about = fmt.Sprintf("%d runs with the settings of %s", len(list), r.ID)
		page, err = runs.SweepPage(list)
	} else {
		page, err = runs.Page(r)
	}
	if err != nil {
		return err
	}
	if err := files.WriteText(to, page); err != nil {
		return err
	}
	return a.show(paged{r.ID, to}, func(w io.Writer) { fmt.Fprintf(w, "page of %s written to %s\n", about, to) })
}

func runTable(w io.Writer, r *runs.Record) {
	pairs(w, slices.DeleteFunc(slices.Concat([][2]string{
		{"id", r.ID}, {"kind", r.Kind}, {"status", r.Status}, {"message", r.Message}, {"profile", r.Profile},
		{"dataset", r.Dataset}, {"checksum", r.Checksum}, {"model", r.Model}, {"split", splitText(r.Split)},
		{"seed", fmt.Sprint(r.Seed)}, {"engine", r.Engine}, {"started", r.Started.Format(time.RFC3339)},
		{"seconds", fmt.Sprintf("%.3f", r.Seconds)}, {"platform", r.Machine.Platform}, {"cpu", r.Machine.CPU},
	}, r.Machine.Processor(), [][2]string{
		{"gpu", r.Machine.GPU}, {"cores", fmt.Sprint(r.Machine.Cores)}, {"commit", r.Commit}, {"key", r.Key},
	}), func(f [2]string) bool { return f[1] == "" }))
	for _, f := range []struct {
		name  string
		value any
	}{{"versions", r.Versions}, {"config", r.Config}, {"outcome", r.Outcome}} {
		b, _ := json.MarshalIndent(f.value, "", "  ") // it is JSON already
		fmt.Fprintf(w, "\n%s %s\n", f.name, b)
	}
}

type moved struct {
	File string `json:"file"`
	Runs string `json:"runs"`
	// Skipped were in the file of run records already.
	Records int `json:"records"`
	Skipped int `json:"skipped"`
}

func (a *app) runsExport() *cobra.Command {
	c := &cobra.Command{Use: "export FILE [flags]", Short: "Write run records as text, to a .jsonl or .csv file, or compressed to .jsonl.gz or .csv.gz",
		Args: oneArgument("a .jsonl or .csv file")}
	q := choosing(c)
	c.RunE = a.records(runs.OpenExisting, func(s *runs.Store, args []string) error {
		n, err := s.Export(args[0], *q)
		if err != nil {
			return asUsageIf[*runs.FormatError](err)
		}
		return a.show(moved{args[0], s.Path(), n, 0}, func(w io.Writer) {
			fmt.Fprintf(w, "records written to %s: %d\n", args[0], n)
		})
	})
	return c
}

func (a *app) runsImport() *cobra.Command {
	return &cobra.Command{Use: "import FILE", Short: "Add run records from a file that export wrote, all or none",
		Args: oneArgument("a .jsonl or .csv file"),
		RunE: a.records(runs.Open, func(s *runs.Store, args []string) error {
			added, skipped, err := s.Import(args[0])
			if err != nil {
				return asUsageIf[*runs.FormatError](err)
			}
			return a.show(moved{args[0], s.Path(), added, skipped}, func(w io.Writer) {
				fmt.Fprintf(w, "records added to %s: %d (there already: %d)\n", s.Path(), added, skipped)
			})
		})}
}

type repaired struct {
	Runs    string   `json:"runs"`
	Removed []string `json:"removed"`
}

func (a *app) runsRepair() *cobra.Command {
	return &cobra.Command{Use: "repair", Short: "Remove run records that are not as they were written, and say which",
		Args: noArguments,
		RunE: a.records(runs.OpenExisting, func(s *runs.Store, _ []string) error {
			removed, err := s.Repair()
			if err != nil {
				return err
			}
			return a.show(repaired{s.Path(), removed}, func(w io.Writer) {
				fmt.Fprintf(w, "damaged records removed from %s: %d\n%s", s.Path(), len(removed),
					strings.Join(append(removed, ""), "\n"))
			})
		})}
}

func oneArgument(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 1 || args[0] == "" {
			return usagef("'%s' needs one argument, %s; see '%s --help'", c.CommandPath(), what, c.CommandPath())
		}
		return nil
	}
}

func (a *app) runsRerun() *cobra.Command {
	dataset := ""
	c := &cobra.Command{Use: "rerun ID", Short: "Make a recorded run again, and compare its numbers bit for bit",
		Long: "Makes a recorded run again, and compares its numbers bit for bit: same settings, split and seed, on the\n" +
			"record's engine and number of threads unless --engine, --threads or their variables name others. Shows the\n" +
			"numbers that differ, and what is different around them: engine, threads, processor, commit, versions. The new\n" +
			"run is not recorded.\n\nExit status: 0 where all numbers are equal, 1 where some differ.",
		Args: oneArgument("the ID of a run, or last"),
		RunE: func(c *cobra.Command, args []string) error {
			var then *runs.Record
			if err := a.withRecords(runs.OpenExisting, func(s *runs.Store) (err error) {
				then, err = s.Get(args[0])
				return err
			}); err != nil {
				return err
			}
			t, err := runs.TaskOf(then)
			if err != nil {
				return err
			}
			if a.engineName == "" && os.Getenv(engine.Variable) == "" {
				a.engineName = then.Engine
			}
			if n := runs.ThreadsOf(then); n > 0 && os.Getenv(engine.ThreadsVariable) == "" {
				if err := os.Setenv(engine.ThreadsVariable, strconv.Itoa(n)); err != nil {
					return err
				}
			}
			p := a.progress()
			e, err := engine.Open(a.engineName)
			if err != nil {
				return err
			}
			g, err := a.load(c.Context(), p, cmp.Or(dataset, t.Dataset))
			if err != nil {
				return fmt.Errorf("%w; if the graph of the run has moved, say where it is by --dataset", err)
			}
			p.line("%s, recorded on %s", t, then.Started.Format("2006-01-02"))
			r, err := runs.Rerun(c.Context(), runs.Executor{Engine: e, Graph: g, Epoch: func(e train.Epoch) {
				p.at(t.String(), int64(e.Epoch), int64(e.Epochs), "epochs", fmt.Sprintf("val %.4f", e.BestVal))
			}}, then, t)
			p.end()
			if err != nil {
				return err
			}
			if err := a.show(r, func(w io.Writer) { repetitionTable(w, r) }); err != nil {
				return err
			}
			switch {
			case r.Equal:
				return nil
			case len(r.Circumstances) == 0:
				return errors.New("the numbers differ although engine, threads, processor, commit and versions " +
					"are the same: please report it")
			}
			return fmt.Errorf("the numbers differ from those of run %s: see what else is different", then.ID)
		}}
	c.Flags().StringVar(&dataset, "dataset", "", "where the graph is now, if its file or folder has moved")
	return c
}

func repetitionTable(w io.Writer, r *runs.Repetition) {
	if r.Equal {
		fmt.Fprintf(w, "all numbers are those of run %s, bit for bit (%s)\n", r.Then.ID, mainNumber(r.Now))
	}
	for _, part := range []struct {
		title   string
		changes []runs.Change
	}{{"number", r.Numbers}, {"circumstance", r.Circumstances}} {
		if len(part.changes) == 0 {
			continue
		}
		fmt.Fprintf(w, "%s\tthen\tnow\n", part.title)
		for _, c := range part.changes {
			fmt.Fprintf(w, "%s\t%s\t%s\n", files.Printable(c.Name), files.Printable(c.Then), files.Printable(c.Now))
		}
	}
}
