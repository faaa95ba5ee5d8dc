package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// runsFlag adds --runs to a command that needs the file of run records.
func (a *app) runsFlag(f *pflag.FlagSet) {
	f.StringVar(&a.runsFile, "runs", "", "SQLite file of run records (default: $REVGNN_RUNS, else "+runs.DefaultFile+")")
}

// withRecords calls f with the file of run records, which open opens.
func (a *app) withRecords(open func(path string) (*runs.Store, error), f func(*runs.Store) error) (err error) {
	s, err := open(cmp.Or(a.runsFile, os.Getenv("REVGNN_RUNS"), runs.DefaultFile))
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, s.Close()) }()
	return f(s)
}

// recorded adds --runs to a command that records its runs if it is told where.
func (a *app) recorded(f *pflag.FlagSet) {
	f.StringVar(&a.runsFile, "runs", "", "SQLite file to record this run in (default: $REVGNN_RUNS, else none)")
}

// recorder records the runs of one command on an engine and a graph. Its store is nil if nothing is to be recorded.
type recorder struct {
	store    *runs.Store
	kind     string
	progress *progress
	engine   *engine.Engine
	graph    *graphs.Graph
	// about has what all runs of the command share.
	about runs.Record
	// err is the first error in recording a run. The command goes on, and reports it at its end.
	err error
}

// recording does the work of a command with a recorder. It opens the file of records before the work begins.
func (a *app) recording(ctx context.Context, kind, dataset string, do func(*recorder) error) (err error) {
	r := &recorder{kind: kind, progress: a.progress()}
	if path := cmp.Or(a.runsFile, os.Getenv("REVGNN_RUNS")); path != "" {
		if r.store, err = runs.Open(path); err != nil {
			return err
		}
		defer func() {
			failed := cmp.Or(r.err, r.store.Close())
			switch {
			case failed == nil:
			case err == nil:
				err = fmt.Errorf("the work was done, but not all of it recorded: %w", failed)
			default:
				err = fmt.Errorf("%w; besides, not all runs were recorded: %w", err, failed)
			}
		}()
	}
	if r.engine, r.graph, err = a.prepare(ctx, r.progress, dataset); err != nil {
		return err
	}
	return do(r)
}

// start begins the run of a command, now.
func (r *recorder) start(c train.Config) {
	if r.store == nil {
		return
	}
	var err error
	r.about, err = runs.Start(runs.Task{Kind: r.kind, Dataset: r.graph.Name, Config: c.Resolved(), Split: runs.NoSplit},
		c.InputGraph(r.graph).Checksum(), r.engine.Name)
	r.err = cmp.Or(r.err, err)
}

// end records a run that has just ended, with its outcome or its error.
func (r *recorder) end(ctx context.Context, run runs.Record, outcome any, err error) {
	if r.store == nil {
		return
	}
	run.Status, run.Seconds = runs.OK, time.Since(run.Started).Seconds()
	if err != nil {
		run.Status, run.Message, outcome = runs.Failed, sentence(err), nil
		if ctx.Err() != nil {
			run.Status = runs.Interrupted
		}
	}
	if run.Outcome, err = json.Marshal(outcome); err == nil {
		_, err = r.store.Add(run)
	}
	r.err = cmp.Or(r.err, err)
}

func (r *recorder) sweep(ctx context.Context, c train.Config, o runs.SweepOptions) (*runs.Summary, error) {
	if r.store == nil {
		return runs.Sweep(ctx, r.engine, r.graph, c, o)
	}
	r.start(c)
	o.Details = true
	training, told := runs.NoSplit, o.Split
	o.Begin = func(split int) { training, r.about.Started = split, time.Now() }
	o.Split = func(t *runs.SplitRecord, resumed bool) {
		r.split(t, resumed)
		training = runs.NoSplit
		told(t, resumed)
	}
	summary, err := runs.Sweep(ctx, r.engine, r.graph, c, o)
	if err != nil && training != runs.NoSplit {
		run := r.about
		run.Split, run.Seed = training, c.Seed+uint64(training)
		r.end(ctx, run, nil, err)
	}
	return summary, err
}

// split records the training on one split. The command that made a resumed one may have been killed before it recorded
// it.
func (r *recorder) split(t *runs.SplitRecord, resumed bool) {
	run, err := t.Recorded()
	known := false
	if err == nil && resumed {
		known, err = r.store.Has(run)
	}
	if err == nil && !known {
		_, err = r.store.Add(run)
	}
	r.err = cmp.Or(r.err, err)
}
