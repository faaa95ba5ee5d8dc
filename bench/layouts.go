package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// layouts are those in which pyg.py can have a graph.
var layouts = []string{"edges", "csr", "EdgeIndex"}

// trialSteps of training are made with each.
const trialSteps = 4

// trial finds the layout in which PyTorch Geometric is fastest on a case, by a few steps in each, in processes of
// their own. A layout that fails is left out; an error is an interrupt.
func (o *options) trial(ctx context.Context, x *Result) error {
	c, p := x.Case, x.Graph
	c.Config.Epochs = trialSteps
	x.Layouts = map[string]float64{}
	for _, p.Layout = range layouts {
		r, err := execute(ctx, Peer, 0, o.peer(c, p), o.limit)
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

// trials says what the trials of layouts gave.
func (x *Result) trials() string {
	var parts []string
	for _, layout := range slices.Sorted(maps.Keys(x.Layouts)) {
		parts = append(parts, fmt.Sprintf("%s %.3g", layout, x.Layouts[layout]))
	}
	return strings.Join(parts, ", ")
}
