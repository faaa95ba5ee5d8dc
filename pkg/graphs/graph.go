// Package graphs has the type Graph that the other packages read: nodes, undirected edges, features, labels and splits
// as Go slices, and optionally the directed edges, called arcs.
package graphs

import (
	"fmt"
	"math"
	"slices"
)

// Edge is an undirected edge; the smaller node comes first.
type Edge [2]int32

// Split has a mask over the nodes for training, validation and test each; a node is in one at most.
type Split struct {
	Train, Val, Test []bool
}

// Graph is a graph with node features and labels, empty if zero.
type Graph struct {
	Name     string
	NumNodes int
	// Edges are {a, b} with a < b, each once, sorted, without self loops.
	Edges []Edge
	// Arcs, unless empty, are the directed edges, each once, sorted, possibly with self loops; see [Graph.WithArcs].
	Arcs []Arc
	// ArcsMissing says why directions that the dataset has were not loaded.
	ArcsMissing string
	// Features are NumFeatures numbers of node 0, then of node 1, and so on.
	Features    []float32
	NumFeatures int
	// Labels are classes from 0 to NumClasses-1, or Unlabelled.
	Labels     []int32
	NumClasses int
	// Names in the file, nil where it has numbers; see [Graph.ID] and [Graph.Classes].
	IDs, ClassNames, FeatureNames []string
	// RowNormalised features were divided by their sum when the graph was loaded (where it is 1 or more), as the
	// paper's homophilic datasets: they differ from the file.
	RowNormalised bool
	Splits        []Split
}

// Unlabelled is the label of a node whose class is not known.
const Unlabelled int32 = -1

// New drops self loops and repeated edges, sorts the others, and checks the graph.
func New(name string, numNodes int, edges []Edge, features []float32, numFeatures int, labels []int32, numClasses int,
	splits []Split) (*Graph, error) {
	g := &Graph{Name: name, NumNodes: numNodes, Edges: canonical(edges), Features: features, NumFeatures: numFeatures,
		Labels: labels, NumClasses: numClasses, Splits: splits}
	if err := g.Validate(); err != nil {
		return nil, err
	}
	return g, nil
}

// canonical is the edges as [Graph] stores them.
func canonical(edges []Edge) []Edge {
	out := make([]Edge, 0, len(edges))
	for _, e := range edges {
		if e[0] == e[1] {
			continue
		}
		if e[0] > e[1] {
			e[0], e[1] = e[1], e[0]
		}
		out = append(out, e)
	}
	slices.SortFunc(out, compare)
	return slices.Compact(out)
}

// Validate names the first mistake: a node that does not exist, edges out of order, a label that is no class, a feature
// that is not finite, an array of wrong length, a node in two masks.
func (g *Graph) Validate() error {
	if g.NumNodes < 0 || g.NumNodes > math.MaxInt32 {
		return fmt.Errorf("graph %q: %d nodes, but node numbers must fit 31 bits", g.Name, g.NumNodes)
	}
	if g.NumFeatures < 0 || g.NumClasses < 0 {
		return fmt.Errorf("graph %q: %d features and %d classes; neither can be negative",
			g.Name, g.NumFeatures, g.NumClasses)
	}
	for i, e := range g.Edges {
		if e[0] < 0 || int(e[1]) >= g.NumNodes {
			return fmt.Errorf("graph %q: edge %d joins nodes %d and %d, but nodes are numbered 0 to %d",
				g.Name, i, e[0], e[1], g.NumNodes-1)
		}
		if e[0] >= e[1] || i > 0 && compare(g.Edges[i-1], e) >= 0 {
			return fmt.Errorf("graph %q: edge %d (%d, %d) is out of order; build graphs with graphs.New",
				g.Name, i, e[0], e[1])
		}
	}
	if g.Directed() {
		if err := g.checkArcs(); err != nil {
			return err
		}
	}
	if len(g.Features) != g.NumNodes*g.NumFeatures {
		return fmt.Errorf("graph %q: %d feature values for %d nodes of %d features each",
			g.Name, len(g.Features), g.NumNodes, g.NumFeatures)
	}
	for i, v := range g.Features {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("graph %q: feature %d of node %d is %v; features must be finite",
				g.Name, i%g.NumFeatures, i/g.NumFeatures, v)
		}
	}
	if len(g.Labels) != g.NumNodes {
		return fmt.Errorf("graph %q: %d labels for %d nodes", g.Name, len(g.Labels), g.NumNodes)
	}
	for i, l := range g.Labels {
		if l != Unlabelled && (l < 0 || int(l) >= g.NumClasses) {
			return fmt.Errorf("graph %q: node %d has label %d, but classes are numbered 0 to %d",
				g.Name, i, l, g.NumClasses-1)
		}
	}
	if err := g.checkNames(); err != nil {
		return err
	}
	for k, s := range g.Splits {
		if len(s.Train) != g.NumNodes || len(s.Val) != g.NumNodes || len(s.Test) != g.NumNodes {
			return fmt.Errorf("graph %q: the masks of split %d have %d, %d and %d entries for %d nodes",
				g.Name, k, len(s.Train), len(s.Val), len(s.Test), g.NumNodes)
		}
		for i := range s.Train {
			if s.Train[i] && s.Val[i] || s.Train[i] && s.Test[i] || s.Val[i] && s.Test[i] {
				return fmt.Errorf("graph %q: node %d is in two masks of split %d; masks must not overlap",
					g.Name, i, k)
			}
		}
	}
	return nil
}

// Degrees are the numbers of neighbours, without the node itself.
func (g *Graph) Degrees() []int {
	degrees := make([]int, g.NumNodes)
	for _, e := range g.Edges {
		degrees[e[0]]++
		degrees[e[1]]++
	}
	return degrees
}

// Neighbours are sorted, without the node itself.
func (g *Graph) Neighbours() [][]int32 {
	flat := make([]int32, 2*len(g.Edges))
	out := make([][]int32, g.NumNodes)
	at := 0
	for i, d := range g.Degrees() {
		out[i] = flat[at : at : at+d]
		at += d
	}
	for _, e := range g.Edges {
		out[e[1]] = append(out[e[1]], e[0])
	}
	for _, e := range g.Edges {
		out[e[0]] = append(out[e[0]], e[1])
	}
	return out
}
