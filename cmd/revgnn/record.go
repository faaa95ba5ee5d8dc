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
	"github.com/revgnn/revgnn/pkg/results"
	"github.com/revgnn/revgnn/pkg/sweep"
	"github.com/revgnn/revgnn/pkg/train"
)

// recorded adds --runs to a command that records what it runs.
func (a *app) recorded(c *cobra.Command) {
	c.Flags().StringVar(&a.runsFile, "runs", "",
		"SQLite file to record this run in (default: $REVGNN_RUNS, else none)")
}

// recorder keeps the runs of one command. A nil recorder keeps nothing.
type recorder struct {
	store *results.Store
	// about is what all runs of the command share.
	about results.Record
	// err is the first failure to record: work goes on, and the command says it in the end.
	err error
}

// recorder opens the file that runs are to be recorded in, before the work: nil if there is none.
func (a *app) recorder(kind string) (*recorder, error) {
	path := cmp.Or(a.runsFile, os.Getenv("REVGNN_RUNS"))
	if path == "" {
		return nil, nil
	}
	store, err := results.Open(path)
	if err != nil {
		return nil, err
	}
	return &recorder{store: store, about: results.Begin(kind)}, nil
}

// close ends the recording, and says what could not be recorded unless the command failed anyway.
func (r *recorder) close(err *error) {
	if r == nil {
		return
	}
	failed := cmp.Or(r.err, r.store.Close())
	if *err == nil && failed != nil {
		*err = fmt.Errorf("the work was done, but not all of it recorded: %w", failed)
	}
}

// of says what the runs are of, the graph as the model sees it; they start now.
func (r *recorder) of(e *engine.Engine, g *graphs.Graph, model string, config any, seed uint64) {
	if r == nil {
		return
	}
	b, err := json.Marshal(config)
	r.err = cmp.Or(r.err, err)
	a := &r.about
	a.Dataset, a.Checksum, a.Model, a.Engine, a.Config, a.Seed = g.Name, g.Checksum(), model, e.Name, b, seed
	a.Started = time.Now()
}

// add records a run with its outcome.
func (r *recorder) add(run results.Record, outcome any) {
	b, err := json.Marshal(outcome)
	run.Outcome = b
	if err == nil {
		_, err = r.store.Add(run)
	}
	r.err = cmp.Or(r.err, err)
}

// split records a training. One that was there already is recorded where that is missing, since a process was killed
// between the two.
func (r *recorder) split(t *sweep.Record, resumed bool) {
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

// whole records an inversion or a benchmark that ended now, or the error that it ended in.
func (r *recorder) whole(ctx context.Context, outcome any, err error) {
	switch {
	case r == nil:
	case err != nil:
		r.failed(ctx, r.about, err)
	default:
		run := r.about
		run.Status, run.Seconds = results.OK, time.Since(run.Started).Seconds()
		r.add(run, outcome)
	}
}

// sweep trains as [sweep.Run] does, and records each split.
func (r *recorder) sweep(ctx context.Context, e *engine.Engine, g *graphs.Graph, c train.Config,
	o sweep.Options) (*sweep.Summary, error) {
	if r == nil {
		return sweep.Run(ctx, e, g, c, o)
	}
	r.of(e, models.Seen(c.Config, g), c.Model, c.Resolved(), c.Seed)
	o.Details = true
	training, told := results.NoSplit, o.Split
	o.Begin = func(split int) { training, r.about.Started = split, time.Now() }
	o.Split = func(t *sweep.Record, resumed bool) {
		r.split(t, resumed)
		training = results.NoSplit
		told(t, resumed)
	}
	summary, err := sweep.Run(ctx, e, g, c, o)
	if err != nil && training != results.NoSplit {
		run := r.about
		run.Split, run.Seed = training, c.Seed+uint64(training)
		r.failed(ctx, run, err)
	}
	return summary, err
}

// failed records a run that ended now in an error.
func (r *recorder) failed(ctx context.Context, run results.Record, err error) {
	run.Status, run.Message, run.Seconds = results.Failed, sentence(err), time.Since(run.Started).Seconds()
	if ctx.Err() != nil {
		run.Status = results.Interrupted
	}
	r.add(run, nil)
}
