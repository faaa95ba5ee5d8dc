package search

import (
	"fmt"
	"slices"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/runs"
)

// Blind is a graph for training and validation on one split. The split has no test nodes any more, and only its
// training and validation nodes keep their labels. A search takes only graphs of this type, so that it cannot use the
// labels of test nodes. [Blindfold] makes such a graph from an ordinary one.
type Blind struct {
	split int
	graph *graphs.Graph
}

// Blindfold makes a copy of a graph, for trials on one split. In the copy, this split has no test nodes, and all other
// splits are empty. Only the training and validation nodes of this split keep their labels; all other labels are
// replaced by class 0. So the labels of test nodes cannot influence the trials. The copy has all nodes, features and
// edges of the graph.
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
