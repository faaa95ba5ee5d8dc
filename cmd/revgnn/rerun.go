package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/plain"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

func (a *app) runsRerun() *cobra.Command {
	return &cobra.Command{Use: "rerun ID", Short: "Make a recorded run again, and compare its numbers bit for bit",
		Long: "Makes a recorded run again, and compares its numbers bit for bit: same settings, split and seed, on the\n" +
			"record's engine and number of threads unless --engine, --threads or their variables name others. Shows the\n" +
			"numbers that differ, and what is different around them: engine, threads, processor, commit, versions. The new\n" +
			"run is not recorded.\n\nExit status: 0 where all numbers are equal, 1 where some differ.",
		Args: oneArgument("the ID of a run, or last"),
		RunE: func(c *cobra.Command, args []string) error {
			var then *runs.Record
			if err := a.withRecords(func(s *runs.Store) (err error) {
				then, err = s.Get(args[0])
				return err
			}); err != nil {
				return err
			}
			return a.rerun(c, then)
		}}
}

// rerun makes a recorded run again, on the engine and the threads of the record unless a flag or a variable sets
// others.
func (a *app) rerun(c *cobra.Command, then *runs.Record) error {
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
	g, err := runs.Load(c.Context(), t.Dataset, a.data)
	if err != nil {
		return err
	}
	p.line("%s, recorded on %s", t, then.Started.Format("2006-01-02"))
	r, err := runs.Rerun(c.Context(), runs.Place{Engine: e, Graph: g, Epoch: func(e train.Epoch) {
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
		return errors.New("the numbers differ although engine, threads, processor, commit and versions are the same: " +
			"please report it")
	}
	return fmt.Errorf("the numbers differ from those of run %s: see what else is different", then.ID)
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
			fmt.Fprintf(w, "%s\t%s\t%s\n", plain.Text(c.Name), plain.Text(c.Then), plain.Text(c.Now))
		}
	}
}
