package paper

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"time"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/report/nb"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// SecondsVariable names the environment variable with the seconds that the missing runs of a notebook may take; a
// notebook starts none if they would take longer.
const SecondsVariable = "REVGNN_NOTEBOOK_SECONDS"

const notebookSeconds = 300

// taskVariable names the environment variable with a task as JSON: a cell's program that starts itself again for this
// task finds it there.
const taskVariable = "REVGNN_NOTEBOOK_TASK"

// Notebook makes a table or figure for a notebook from the records that come with revgnn and those in the file that
// REVGNN_RUNS names (else out/runs.sqlite in the notebook's Go module, or beside the notebook).
//
// Missing runs are made if they take at most REVGNN_NOTEBOOK_SECONDS (300) by estimate; otherwise the document shows
// what is recorded, and the cell says how to make the rest.
//
// Call it before all other code of a cell: some runs are made in a process of their own, in which time and memory can
// be measured better, and for these the cell's program starts itself again.
func Notebook(name string, p Profile) (*Document, error) {
	if text := os.Getenv(taskVariable); text != "" {
		answer(text)
	}
	return inNotebook(name, p, complete)
}

// Recorded does what [Notebook] does, but makes no runs.
func Recorded(name string, p Profile) (*Document, error) {
	return inNotebook(name, p, func(*runs.Runner, Profile, []Item) error { return nil })
}

// AtAGlance is an overview of our results: the scorecard, the verdict on every cell of the paper's tables, small
// pictures of all tables and figures, and the machines that made the runs.
type AtAGlance struct{ Score, Cells, Pictures, Who report.Item }

// Glance makes the overview from recorded runs. It makes no runs.
func Glance(p Profile) (*AtAGlance, error) {
	var o *overview
	err := withRecords(p, func(r *runs.Runner) error {
		documents, card, err := Documents(r, p, Items())
		if err == nil {
			o = look(card, documents, true)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &AtAGlance{excerpt{o, "score"}, excerpt{o, "cells"}, excerpt{o, "cards"}, o.who}, nil
}

// excerpt is the part of an overview that a template of front.html shows.
type excerpt struct {
	*overview
	name string
}

func (e excerpt) HTML() (string, error) { return e.part(e.name) }
func (e excerpt) Text() string          { return e.Card.Markdown() }

// inNotebook makes the document of an item from recorded runs, after before, which may make missing ones.
func inNotebook(name string, p Profile,
	before func(*runs.Runner, Profile, []Item) error) (d *Document, err error) {
	items, err := Choose([]string{name})
	if err != nil {
		return nil, err
	}
	err = withRecords(p, func(r *runs.Runner) error {
		if err := before(r, p, items); err != nil {
			return err
		}
		documents, _, err := Documents(r, p, items)
		if err == nil {
			d = documents[0]
		}
		return err
	})
	return d, err
}

// withRecords hands a runner on all records that [Notebook] reads to do.
func withRecords(p Profile, do func(r *runs.Runner) error) (err error) {
	store, err := runs.Open(cmp.Or(os.Getenv("REVGNN_RUNS"), filepath.Join(project(), runs.DefaultFile)))
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, store.Close()) }()
	if _, err := store.AddCommitted(); err != nil {
		return err
	}
	return do(&runs.Runner{Scope: runs.Scope{Profile: p.Profile}, Store: store, Alone: alone, Load: load,
		Engine: func() (*engine.Engine, error) { return engine.Open("") }})
}

// complete makes the missing runs if they take no longer than [SecondsVariable] allows, or says how to make them.
func complete(r *runs.Runner, p Profile, items []Item) error {
	limit, err := allowed()
	if err != nil {
		return err
	}
	work := Work(p, items)
	plan, err := r.Plan(work)
	if err != nil {
		return err
	}
	all := count(plan.Missing+plan.Done, "run")
	if plan.Missing == 0 {
		fmt.Printf("Profile %s: all %s are there.\n", p.Name, all)
		return nil
	}
	fmt.Printf("Profile %s: %d of %s missing.\n", p.Name, plan.Missing, all)
	fmt.Printf("Time to make them: %s.\n", plan.Time())
	stopped := false
	if limit > 0 && plan.Seconds <= limit {
		if stopped, err = begin(r, work, plan, limit); err != nil || !stopped {
			return err
		}
	}
	why := fmt.Sprintf("A notebook cell makes runs for at most %s", runs.Duration(limit))
	if limit == 0 {
		why = "This notebook makes no runs"
	}
	fmt.Printf("%s, so some runs are still missing. What is there is shown below. To make the other runs, run "+
		"`make paper PROFILE=%s` in a terminal, or set %s to the seconds that a cell may take.\n", why, p.Name,
		SecondsVariable)
	return nil
}

// begin makes the missing runs, and shows their progress in a bar. The notebook's stop button ends them. If the time of
// some is unknown, begin stops after limit seconds, and says so; what has ended by then is recorded.
func begin(r *runs.Runner, work runs.Work, plan runs.Plan, limit float64) (stopped bool, err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	within := ctx
	if plan.Unknown > 0 {
		var end context.CancelFunc
		within, end = context.WithTimeout(ctx, time.Duration(limit*float64(time.Second)))
		defer end()
	}
	bar := nb.Progress("runs")
	var now runs.Progress
	made := 0
	defer func() { bar.Done(count(made, "run") + " made") }()
	r.Starts = func(at runs.Progress) {
		now = at
		bar.Update(float64(at.Number-1)/float64(at.Total), fmt.Sprintf("%d of %d: %s; time left: %s", at.Number,
			at.Total, at.Task, at.Left()))
	}
	r.Epoch = func(t runs.Task, e train.Epoch, left float64) {
		done := float64(now.Number-1) + float64(e.Epoch)/float64(e.Epochs)
		bar.Update(done/float64(now.Total), fmt.Sprintf("%d of %d: %s, epoch %d of %d, at most %s left of this run",
			now.Number, now.Total, t, e.Epoch, e.Epochs, runs.Duration(left)))
	}
	r.Ended = func(runs.Record) { made++ }
	r.Notice = func(text string) { fmt.Println(text + ".") }
	err = r.Run(within, work)
	if within.Err() != nil && ctx.Err() == nil {
		return true, nil
	}
	return false, err
}

// allowed reads [SecondsVariable].
func allowed() (seconds float64, err error) {
	text := cmp.Or(os.Getenv(SecondsVariable), strconv.Itoa(notebookSeconds))
	if seconds, err = strconv.ParseFloat(text, 64); err != nil || !(seconds >= 0) {
		return 0, fmt.Errorf("%s is %q: set it to a number of seconds, 0 to begin no work", SecondsVariable, text)
	}
	const most = 1e9 // some thirty years; a time.Duration can't hold ten times as many seconds
	return min(seconds, most), nil
}

// project is the nearest folder with a go.mod, from the working directory upwards, or "".
func project() string {
	for dir, _ := filepath.Abs("."); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	return ""
}

func load(ctx context.Context, name string) (*graphs.Graph, error) {
	return runs.Load(ctx, name, datasets.Options{})
}

// alone runs a task in a process of its own: the cell's program again.
func alone(ctx context.Context, t runs.Task) (runs.Record, error) {
	return runs.InOwnProcess(ctx, t, func(self, task string) *exec.Cmd {
		c := exec.CommandContext(ctx, self)
		c.Env = append(os.Environ(), taskVariable+"="+task)
		return c
	})
}

// answer, in the process of [alone], runs the task, writes its record to stdout, and ends the process.
func answer(text string) {
	record, err := func() (record runs.Record, err error) {
		var t runs.Task
		if err := json.Unmarshal([]byte(text), &t); err != nil {
			return record, fmt.Errorf("%s is no task: %w", taskVariable, err)
		}
		return runs.ExecuteAlone(context.Background(), t, "", load)
	}()
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(record)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
