// Package graphs holds the type Graph, which the other packages read. A Graph has the number of nodes and, as ordinary
// Go slices, the undirected edges, features, labels and splits. Package graphs does not depend on engines or models.
//
// The list of edges has no directions. If the edges of a graph have directions, the Graph also has a second list, of
// the directed edges, which are called arcs.
package graphs

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Edge is an undirected edge between two different nodes. The node with the smaller number comes first.
type Edge [2]int32

// Split says which nodes are used for training, validation and test. Each of the three lists, called masks, has one
// entry per node. No node is in more than one of them.
type Split struct {
	Train, Val, Test []bool
}

// Graph is an undirected graph with node features and labels, and optionally with directions of its edges. The zero
// value is the empty graph.
type Graph struct {
	// Name is the graph's name as users type it, for example "minesweeper".
	Name string
	// NumNodes is the number of nodes, |V|.
	NumNodes int
	// Edges lists each undirected edge {a, b} once, with a < b, in lexicographic order. There are no self loops.
	Edges []Edge
	// Arcs is empty if the graph is undirected. Otherwise it lists the directed edges, each once, and may also include
	// self loops. Arcs are ordered by their first nodes, and arcs with the same first node by their second nodes. See
	// [Graph.WithArcs].
	Arcs []Arc
	// ArcsMissing is a sentence. If the edges of the dataset have directions that were not loaded, it says why they
	// were not loaded. Otherwise ArcsMissing is empty.
	ArcsMissing string
	// Features are the features of all nodes, NumFeatures numbers for each node: first those of node 0, then those of
	// node 1, and so on.
	Features    []float32
	NumFeatures int
	// Labels has one entry per node: the number of its class, from 0 to NumClasses-1, or Unlabelled. If no node has a
	// label, NumClasses is 0.
	Labels     []int32
	NumClasses int
	// IDs, ClassNames and FeatureNames are the names of nodes, classes and features in the file that the graph was read
	// from. Each of the three is nil if the file has numbers instead of these names. See [Graph.ID] and
	// [Graph.Classes].
	IDs, ClassNames, FeatureNames []string
	// RowNormalised is true if each node's features were divided by their sum when the graph was loaded. (A node whose
	// features add up to less than 1 keeps its features.) Package datasets divides the features in this way for the
	// paper's homophilic datasets, such as Cora. The field Features then differs from the file.
	RowNormalised bool
	// Splits are divisions of the nodes into training, validation and test nodes. Experiments average their results
	// over several splits.
	Splits []Split
}

// Unlabelled is the label of a node whose class is not known.
const Unlabelled int32 = -1

// New builds a graph. The edges may be in any order, and so may the two nodes of an edge. New drops self loops and
// repeated edges, sorts the other edges, and checks the graph (see [Graph.Validate]).
func New(name string, numNodes int, edges []Edge, features []float32, numFeatures int, labels []int32, numClasses int,
	splits []Split) (*Graph, error) {
	g := &Graph{Name: name, NumNodes: numNodes, Edges: canonical(edges), Features: features, NumFeatures: numFeatures,
		Labels: labels, NumClasses: numClasses, Splits: splits}
	if err := g.Validate(); err != nil {
		return nil, err
	}
	return g, nil
}

// canonical returns the edges as [Graph] stores them. The node with the smaller number comes first in each edge. The
// list is sorted, has no self loops, and has each edge only once.
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
	slices.SortFunc(out, func(a, b Edge) int {
		if c := cmp.Compare(a[0], b[0]); c != 0 {
			return c
		}
		return cmp.Compare(a[1], b[1])
	})
	return slices.Compact(out)
}

// Validate returns an error that names the first mistake in the graph, or nil if there is none. Examples of mistakes
// are an edge with a node that does not exist, edges out of order, and a label that is not a class. Others are a
// feature that is not finite, an array of wrong length, and a node in two masks of one split.
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
		if e[0] >= e[1] || i > 0 && (g.Edges[i-1][0] > e[0] || g.Edges[i-1][0] == e[0] && g.Edges[i-1][1] >= e[1]) {
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

// Degrees returns, for every node, the number of its neighbours. A node is not its own neighbour.
func (g *Graph) Degrees() []int {
	degrees := make([]int, g.NumNodes)
	for _, e := range g.Edges {
		degrees[e[0]]++
		degrees[e[1]]++
	}
	return degrees
}

// Neighbours returns, for every node, its neighbours in ascending order. A node is not its own neighbour.
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
