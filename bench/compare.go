package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/files"
)

// compare runs the chosen cases; interrupted, it writes what there is.
func (o *options) compare(ctx context.Context, all []Case) error {
	chosen, err := selected(all, o.cases)
	if err != nil {
		return err
	}
	switch {
	case o.rounds < 1:
		return fmt.Errorf("rounds is %d: choose at least 1", o.rounds)
	case o.steps < 0 || o.steps == 1:
		return fmt.Errorf("steps is %d: choose 2 at least, since the first is not counted", o.steps)
	}
	if err = o.check(o.out); err == nil {
		err = files.Writable(o.out)
	}
	if err != nil {
		return err
	}
	r := &Report{Machine: examine(o.setup), Rounds: o.rounds, Started: now()}
	var programs []string
	programs, r.Missing = o.available()
	for _, which := range slices.Sorted(maps.Keys(r.Missing)) {
		fmt.Fprintf(os.Stderr, "bench: without the %s: %s\n", which, r.Missing[which])
	}
	for i, c := range chosen {
		fmt.Fprintf(os.Stderr, "bench: case %d of %d, %s\n", i+1, len(chosen), c.Name)
		if err := o.addCase(ctx, r, c, programs); err != nil {
			return err
		}
	}
	text, err := r.markdown()
	if err != nil {
		return err
	}
	fmt.Print(text)
	fmt.Fprintf(os.Stderr, "bench: written to %s\n", o.out)
	return nil
}

// addCase runs a case and writes the report. A case that fails is told; an error ends the comparison.
func (o *options) addCase(ctx context.Context, r *Report, c Case, programs []string) error {
	if o.steps > 0 {
		c.config.Epochs, c.Authors.Steps = o.steps, min(o.steps, c.Authors.Steps)
	}
	x, err := o.one(ctx, c, programs)
	if x != nil {
		r.Results = append(r.Results, x)
	}
	r.Finished = now()
	if failed := r.write(o.out); failed != nil {
		return failed
	}
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted; %d cases are finished, see %s", len(r.Results), o.out)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: case %s: %v\n", c.Name, err)
	}
	return nil
}

// one runs every program once in each round. With an error, the result has what was finished.
func (o *options) one(ctx context.Context, c Case, programs []string) (*Result, error) {
	p, err := prepare(ctx, c, o.out, datasets.Options{Dir: o.data})
	if err != nil {
		return nil, err
	}
	x := &Result{Case: c, Graph: p, Skipped: map[string]string{}}
	defer x.summarise()
	if c.Peer == pyg && slices.Contains(programs, Peer) {
		if err := o.trial(ctx, x); err != nil {
			return x, err
		}
	}
	for round := range o.rounds {
		for _, which := range programs {
			free := int64(0)
			if which == Authors {
				free = o.doctor().Free
			}
			args, skip := o.command(which, c, x.Graph, free)
			if skip != "" {
				x.Skipped[which] = skip
				continue
			}
			r, err := execute(ctx, which, round+1, args, o.limit)
			if err != nil {
				return x, err
			}
			x.Runs = append(x.Runs, r)
			fmt.Fprintf(os.Stderr, "bench:   round %d, %s: %s\n", round+1, which, told(r))
		}
	}
	return x, nil
}

// layouts are the data structures in which pyg.py can give a graph to PyTorch Geometric.
var layouts = []string{"edges", "csr", "EdgeIndex"}

// trialSteps is the number of training steps in the trial of one layout.
const trialSteps = 4

// trial trains a few steps in each layout to find the fastest.
func (o *options) trial(ctx context.Context, x *Result) error {
	c, p := x.Case, x.Graph
	c.config.Epochs = trialSteps
	x.Layouts = map[string]float64{}
	for _, p.Layout = range layouts {
		args, _ := o.command(Peer, c, p, 0)
		r, err := execute(ctx, Peer, 0, args, o.limit)
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "bench:   trial of layout %s: %s\n", p.Layout, told(r))
		if r.Error != "" {
			continue
		}
		x.Layouts[p.Layout] = r.EpochSeconds
		if x.Graph.Layout == "" || r.EpochSeconds < x.Layouts[x.Graph.Layout] {
			x.Graph.Layout = p.Layout
		}
	}
	return nil
}

func told(r Run) string {
	if r.Error != "" {
		return r.Error
	}
	return fmt.Sprintf("%.4g s per epoch, %.0f MB, %.0f s in all", r.EpochSeconds, float64(r.PeakBytes)/1e6, r.Seconds)
}

func now() string { return time.Now().UTC().Format(time.RFC3339) }
