package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

func (a *app) runsFlag(f *pflag.FlagSet) {
	f.StringVar(&a.runsFile, "runs", "", "SQLite file of run records (default: $REVGNN_RUNS, else "+runs.DefaultFile+")")
}

func (a *app) withRecords(open func(path string) (*runs.Store, error), f func(*runs.Store) error) (err error) {
	path := cmp.Or(a.runsFile, os.Getenv("REVGNN_RUNS"), runs.DefaultFile)
	if shared := os.Getenv(sharedRecords); shared != "" { // a worker on a cluster
		path, open = shared, func(path string) (*runs.Store, error) {
			f, err := runs.OpenFolder(path)
			if err != nil {
				return nil, err
			}
			return f.Store()
		}
	}
	s, err := open(path)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, s.Close()) }()
	return f(s)
}

// records makes the RunE of a command that works on the file of records.
func (a *app) records(open func(path string) (*runs.Store, error), do func(s *runs.Store, args []string) error) func(
	*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) error {
		return a.withRecords(open, func(s *runs.Store) error { return do(s, args) })
	}
}

func (a *app) recorded(f *pflag.FlagSet) {
	f.StringVar(&a.runsFile, "runs", "", "SQLite file to record this run in (default: $REVGNN_RUNS, else none)")
}

// recorder records the runs of one command on an engine and a graph. Its store is nil if nothing is to be recorded.
type recorder struct {
	store    *runs.Store
	progress *progress
	engine   *engine.Engine
	graph    *graphs.Graph
	// err is the first error in recording a run. The command goes on, and reports it at its end.
	err error
}

// recording does the work of a command with a recorder. It opens the file of records before the work begins.
func (a *app) recording(ctx context.Context, dataset string, do func(*recorder) error) (err error) {
	r := &recorder{progress: a.progress()}
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

func measure[T any](ctx context.Context, r *recorder, kind string, c train.Config, settings map[string]any,
	do func() (T, error)) (T, error) {
	if r.store == nil {
		return do()
	}
	run := runs.Start(runs.Whole(kind, r.graph.Name, c.Resolved()), c.InputGraph(r.graph).Checksum(),
		r.engine.Name)
	run.Config, _ = json.Marshal(settings) // cannot fail: settings are plain values
	out, err := do()
	r.err = cmp.Or(r.err, run.End(ctx, out, err))
	r.add(run, false)
	return out, err
}

// add records a run. The command that made a resumed one may have been killed before it recorded it.
func (r *recorder) add(run runs.Record, resumed bool) {
	known, err := false, error(nil)
	if resumed {
		known, err = r.store.Has(run)
	}
	if err == nil && !known {
		run.Message = oneLine(run.Message)
		_, err = r.store.Add(run)
	}
	r.err = cmp.Or(r.err, err)
}
