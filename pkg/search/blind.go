package search

import (
	"fmt"
	"slices"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/sweep"
)

// Blind is a graph for training and validation on one split. It has no test nodes, and the labels of the nodes that the
// split tests on are replaced. A search takes only graphs of this type, which [Blindfold] makes.
type Blind struct {
	split int
	graph *graphs.Graph
}

// Blindfold prepares a graph for trials on one split. It takes the test nodes out of this split, empties all other
// splits, and replaces the labels of all nodes that are neither training nor validation nodes of this split by class 0.
// The trials cannot depend on what was removed, whatever the code of models and training does.
func Blindfold(g *graphs.Graph, split int) (Blind, error) {
	if err := sweep.CheckSplits([]int{split}, g); err != nil {
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

// Blindfolds calls [Blindfold] for each of several splits.
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
