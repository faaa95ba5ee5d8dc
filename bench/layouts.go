package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

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

// trials returns a text with the results of [options.trial]: each layout with its seconds per epoch.
func (x *Result) trials() string {
	var parts []string
	for _, layout := range slices.Sorted(maps.Keys(x.Layouts)) {
		parts = append(parts, fmt.Sprintf("%s %.3g", layout, x.Layouts[layout]))
	}
	return strings.Join(parts, ", ")
}
