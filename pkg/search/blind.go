package search

import (
	"fmt"
	"slices"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/runs"
)

// Blind is a graph on which a search cannot use the labels of test nodes. [Blindfold] makes it.
type Blind struct {
	split int
	graph *graphs.Graph
}

// Blindfold copies a graph for trials on one split: the split has no test nodes, all other splits are empty, and all
// labels except those of its training and validation nodes are class 0. Nodes, features and edges stay.
func Blindfold(g *graphs.Graph, split int) (Blind, error) {
	if err := runs.HasSplits([]int{split}, g); err != nil {
		return Blind{}, err
	}
	s := g.Splits[split]
	for what, mask := range map[string][]bool{"training": s.Train, "validation": s.Val} {
		if !slices.Contains(mask, true) {
			return Blind{}, fmt.Errorf("graph %q: split %d has no %s nodes, which a search needs", g.Name, split, what)
		}
	}
	out, none := *g, make([]bool, g.NumNodes)
	out.Labels = make([]int32, g.NumNodes)
	for i, label := range g.Labels {
		if s.Train[i] || s.Val[i] {
			out.Labels[i] = label
		}
	}
	out.Splits = slices.Repeat([]graphs.Split{{Train: none, Val: none, Test: none}}, split+1)
	out.Splits[split] = graphs.Split{Train: s.Train, Val: s.Val, Test: none}
	return Blind{split, &out}, nil
}

func Blindfolds(g *graphs.Graph, splits []int) (out []Blind, err error) {
	for _, k := range splits {
		b, err := Blindfold(g, k)
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}
