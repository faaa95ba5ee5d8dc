package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// recorded adds the flag --runs.
func (a *app) recorded(c *cobra.Command) {
	c.Flags().StringVar(&a.runsFile, "runs", "",
		"SQLite file to record this run in (default: $REVGNN_RUNS, else none)")
}

// recorder records the runs of one command. It is nil if nothing is to be recorded.
type recorder struct {
	store *runs.Store
	kind  string
	// about has what all runs of the command share.
	about runs.Record
	// err is the first error in recording a run. The command goes on, and reports it at its end.
	err error
}

// recorder opens the file before the command begins its work, if --runs or REVGNN_RUNS names one.
func (a *app) recorder(kind string) (*recorder, error) {
	path := cmp.Or(a.runsFile, os.Getenv("REVGNN_RUNS"))
	if path == "" {
		return nil, nil
	}
	store, err := runs.Open(path)
	if err != nil {
		return nil, err
	}
	return &recorder{store: store, kind: kind}, nil
}

// close reports in *err that a run could not be recorded.
func (r *recorder) close(err *error) {
	if r == nil {
		return
	}
	failed := cmp.Or(r.err, r.store.Close())
	switch {
	case failed == nil:
	case *err == nil:
		*err = fmt.Errorf("the work was done, but not all of it recorded: %w", failed)
	default:
		*err = fmt.Errorf("%w; besides, not all runs were recorded: %w", *err, failed)
	}
}

// of begins the run of a command, now. The settings of its record are config, or c if it is nil.
func (r *recorder) of(e *engine.Engine, g *graphs.Graph, c train.Config, config any) {
	if r == nil {
		return
	}
	about, err := runs.Start(runs.Task{Kind: r.kind, Dataset: g.Name, Config: c.Resolved(), Split: runs.NoSplit},
		models.Seen(c.Config, g).Checksum(), e.Name)
	if err == nil && config != nil {
		about.Config, err = json.Marshal(config)
	}
	r.about, r.err = about, cmp.Or(r.err, err)
}

func (r *recorder) add(run runs.Record, outcome any) {
	b, err := json.Marshal(outcome)
	run.Outcome = b
	if err == nil {
		_, err = r.store.Add(run)
	}
	r.err = cmp.Or(r.err, err)
}

// split records the training on one split. The command that made a resumed one may have been killed before it recorded
// it.
func (r *recorder) split(t *runs.SplitRecord, resumed bool) {
	run, err := t.Recorded()
	if err == nil && resumed {
		if known, failed := r.store.Has(run); known || failed != nil {
			r.err = cmp.Or(r.err, failed)
			return
		}
	}
	if err == nil {
		_, err = r.store.Add(run)
	}
	r.err = cmp.Or(r.err, err)
}

// whole records an inversion or a benchmark that has just ended, with its outcome or its error.
func (r *recorder) whole(ctx context.Context, outcome any, err error) {
	switch {
	case r == nil:
	case err != nil:
		r.failed(ctx, r.about, err)
	default:
		run := r.about
		run.Status, run.Seconds = runs.OK, time.Since(run.Started).Seconds()
		r.add(run, outcome)
	}
}

func (r *recorder) sweep(ctx context.Context, e *engine.Engine, g *graphs.Graph, c train.Config,
	o runs.SweepOptions) (*runs.Summary, error) {
	if r == nil {
		return runs.Sweep(ctx, e, g, c, o)
	}
	r.of(e, g, c, nil)
	o.Details = true
	training, told := runs.NoSplit, o.Split
	o.Begin = func(split int) { training, r.about.Started = split, time.Now() }
	o.Split = func(t *runs.SplitRecord, resumed bool) {
		r.split(t, resumed)
		training = runs.NoSplit
		told(t, resumed)
	}
	summary, err := runs.Sweep(ctx, e, g, c, o)
	if err != nil && training != runs.NoSplit {
		run := r.about
		run.Split, run.Seed = training, c.Seed+uint64(training)
		r.failed(ctx, run, err)
	}
	return summary, err
}

// failed records a run that has just ended with an error, or was interrupted if ctx has ended.
func (r *recorder) failed(ctx context.Context, run runs.Record, err error) {
	run.Status, run.Message, run.Seconds = runs.Failed, sentence(err), time.Since(run.Started).Seconds()
	if ctx.Err() != nil {
		run.Status = runs.Interrupted
	}
	r.add(run, nil)
}
