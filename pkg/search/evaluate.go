package search

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// Blind is a graph on which a search cannot use the labels of test nodes. [Blindfolds] makes it.
type Blind struct {
	split int
	graph *graphs.Graph
}

// Blindfolds copies a graph for trials on each of the splits: the split has no test nodes, all other splits are empty,
// and all labels except those of its training and validation nodes are class 0. Nodes, features and edges stay.
func Blindfolds(g *graphs.Graph, splits []int) (out []Blind, err error) {
	if err := runs.HasSplits(splits, g); err != nil {
		return nil, err
	}
	for _, split := range splits {
		s := g.Splits[split]
		for what, mask := range map[string][]bool{"training": s.Train, "validation": s.Val} {
			if !slices.Contains(mask, true) {
				return nil, fmt.Errorf("graph %q: split %d has no %s nodes, which a search needs", g.Name, split, what)
			}
		}
		blind, none := *g, make([]bool, g.NumNodes)
		blind.Labels = make([]int32, g.NumNodes)
		for i, label := range g.Labels {
			if s.Train[i] || s.Val[i] {
				blind.Labels[i] = label
			}
		}
		blind.Splits = slices.Repeat([]graphs.Split{{Train: none, Val: none, Test: none}}, split+1)
		blind.Splits[split] = graphs.Split{Train: s.Train, Val: s.Val, Test: none}
		out = append(out, Blind{split, &blind})
	}
	return out, nil
}

// Evaluation holds the results of the chosen settings on test nodes, from ordinary trainings after the search.
type Evaluation struct {
	Splits []Evaluated `json:"splits"`
	// Of the test metric, over the splits whose training went well; Std is the sample deviation.
	Mean train.Number `json:"mean"`
	Std  train.Number `json:"std"`
}

// Tests returns the test metrics that count: those of splits whose training went well.
func (e *Evaluation) Tests() (tests []float64) {
	for _, s := range e.Splits {
		if s.Status == runs.OK && !math.IsNaN(float64(s.Test)) {
			tests = append(tests, float64(s.Test))
		}
	}
	return tests
}

// Evaluated is the result on one split. Record is the ID of the training's run record.
type Evaluated struct {
	Split   int          `json:"split"`
	Val     train.Number `json:"val"`
	Test    train.Number `json:"test"`
	Epochs  int          `json:"epochs"`
	Status  string       `json:"status"`
	Message string       `json:"message,omitempty"`
	Record  string       `json:"record"`
}

// Evaluate trains and tests a model with the chosen settings on each split, unless the runner's store has the same
// training on the same graph. It returns an error if there is no result on any split.
func Evaluate(ctx context.Context, runner *runs.Runner, r *Result, splits []int) (*Evaluation, error) {
	g, err := runner.Load(ctx, r.Dataset)
	if err != nil {
		return nil, err
	}
	sum := r.Config.InputGraph(g).Checksum()
	profile, counts := runner.Profile, runner.Counts
	defer func() { runner.Profile, runner.Counts = profile, counts }() // what the caller gave the runner
	runner.Counts = func(record runs.Record) bool { return record.Checksum == sum }
	runner.Profile = runs.Profile{Name: r.Search, Datasets: []string{data.Base(r.Dataset)}}
	var out *Evaluation
	why := "no split was asked for"
	work := func(v *runs.View) {
		out = &Evaluation{}
		for _, k := range splits {
			a := runs.Ask[runs.Trained](v, runs.Training(r.Dataset, k, r.Config))
			if a.Record == nil {
				why = a.Why
				continue
			}
			o := a.Outcome
			if a.Record.Status == runs.Failed { // its record has no outcome
				o.Val, o.Test = train.Number(math.NaN()), train.Number(math.NaN())
			}
			out.Splits = append(out.Splits, Evaluated{k, o.Val, o.Test, o.Epochs, a.Record.Status, a.Record.Message,
				a.Record.ID})
		}
		tests := out.Tests()
		out.Mean, out.Std = train.Number(metrics.Mean(tests)), train.Number(metrics.SampleStd(tests))
	}
	if err := runner.Run(ctx, work); err != nil {
		return nil, err
	}
	view, err := runner.View()
	if err != nil {
		return nil, err
	}
	if work(view); len(out.Splits) == 0 {
		return nil, fmt.Errorf("the chosen settings of %s on %s are evaluated on no split: %s", r.Model, r.Dataset, why)
	}
	return out, nil
}
