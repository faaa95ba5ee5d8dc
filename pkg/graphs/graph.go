// Package graphs has the type Graph that the other packages read: nodes, undirected edges, features, labels and splits
// as Go slices, and optionally the directed edges, called arcs.
package graphs

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
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
	// EdgeWeights and ArcWeights are positive numbers for each of Edges and of Arcs; nil stands for 1 each. See
	// [Graph.WithWeights].
	EdgeWeights, ArcWeights []float32
	// Notes has a sentence for everything in the graph's files that is not used.
	Notes []string
	// ArcsMissing says why directions that the dataset has were not loaded.
	ArcsMissing string
	// Features are NumFeatures numbers of node 0, then of node 1, and so on.
	Features    []float32
	NumFeatures int
	// Columns are those of the graph's table that are not all finite numbers. A model reads them after a preparation
	// has made features of them: see [Preparation].
	Columns []Column
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
// that is not finite, an array of wrong length, a text that is not there, a node in two masks.
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
	if err := g.checkWeights(); err != nil {
		return err
	}
	if len(g.Features) != g.NumNodes*g.NumFeatures {
		return fmt.Errorf("graph %q: %d feature values for %d nodes of %d features each",
			g.Name, len(g.Features), g.NumNodes, g.NumFeatures)
	}
	for i, v := range g.Features {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("graph %q: feature %d of node %d is %v; features must be finite, and values that are not known "+
				"are empty fields in nodes.csv", g.Name, i%g.NumFeatures, i/g.NumFeatures, v)
		}
	}
	for _, c := range g.Columns {
		if err := c.check(g.NumNodes); err != nil {
			return fmt.Errorf("graph %q: column %q: %w", g.Name, c.Name, err)
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
	for _, n := range []struct {
		what  string
		names []string
		want  int
	}{{"nodes", g.IDs, g.NumNodes}, {"classes", g.ClassNames, g.NumClasses},
		{"features", g.FeatureNames, g.NumFeatures}} {
		if n.names != nil && len(n.names) != n.want {
			return fmt.Errorf("graph %q: %d names for %d %s; give one for each, or none at all",
				g.Name, len(n.names), n.want, n.what)
		}
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

// Arc is a directed edge from its first node to its second, possibly the same.
type Arc [2]int32

// WithArcs returns a directed graph that shares g's other data. Each edge of g needs an arc in one direction or both;
// other arcs must be self loops; repeated ones are dropped. Weights are given after arcs.
func (g *Graph) WithArcs(arcs []Arc) (*Graph, error) {
	out := *g.Unweighted()
	out.ArcsMissing = ""
	out.Arcs = slices.Clone(arcs)
	slices.SortFunc(out.Arcs, compare)
	out.Arcs = slices.Compact(out.Arcs)
	return &out, out.checkArcs()
}

// Undirected is the graph without directions.
func (g *Graph) Undirected() *Graph {
	out := *g
	out.Arcs, out.ArcWeights, out.ArcsMissing = nil, nil, ""
	return &out
}

// WithWeights returns a weighted graph that shares g's other data: ends are all edges of g or, if it is directed, all
// its arcs, in any order and with their weights. Those of edges that stand there twice must be equal. Self loops count
// as arcs only. An edge with arcs in both directions has their mean weight.
func (g *Graph) WithWeights(ends []Edge, weights []float32) (*Graph, error) {
	if len(ends) != len(weights) {
		return nil, fmt.Errorf("graph %q: %d weights for %d edges; give one for each", g.Name, len(weights), len(ends))
	}
	out := *g
	out.EdgeWeights, out.ArcWeights = make([]float32, len(g.Edges)), make([]float32, len(g.Arcs))
	for i, e := range ends {
		at, there, all := 0, false, out.EdgeWeights
		if g.Directed() {
			all = out.ArcWeights
			at, there = slices.BinarySearchFunc(g.Arcs, Arc(e), compare)
		} else if e[0] != e[1] {
			at, there = slices.BinarySearchFunc(g.Edges, Edge{min(e[0], e[1]), max(e[0], e[1])}, compare)
		} else {
			continue
		}
		w := weights[i]
		switch {
		case !there:
			return nil, fmt.Errorf("graph %q: weight %d is of an edge from node %d to node %d, which is not there",
				g.Name, i, e[0], e[1])
		case !(w > 0) || w > math.MaxFloat32:
			return nil, fmt.Errorf("graph %q: the edge between %s and %s has the weight %v; weights must be positive: leave "+
				"out edges of weight 0", g.Name, g.ID(int(e[0])), g.ID(int(e[1])), w)
		case all[at] != 0 && all[at] != w:
			return nil, fmt.Errorf("graph %q: the edge between %s and %s has two weights, %v and %v; give one or, if edges "+
				"have directions, say so (directed_edges.csv, or directed in an .npz)", g.Name, g.ID(int(e[0])), g.ID(int(e[1])),
				all[at], w)
		}
		all[at] = w
	}
	if !g.Directed() {
		out.ArcWeights = nil
		return &out, out.checkWeights()
	}
	count := make([]float32, len(g.Edges))
	for k, a := range g.Arcs {
		if at, there := slices.BinarySearchFunc(g.Edges, Edge{min(a[0], a[1]), max(a[0], a[1])}, compare); there {
			count[at]++
			out.EdgeWeights[at] += (out.ArcWeights[k] - out.EdgeWeights[at]) / count[at]
		}
	}
	return &out, out.checkWeights()
}

// Unweighted is the graph without weights.
func (g *Graph) Unweighted() *Graph {
	out := *g
	out.EdgeWeights, out.ArcWeights = nil, nil
	return &out
}

func (g *Graph) Weighted() bool { return g.EdgeWeights != nil }

func (g *Graph) checkWeights() error {
	for _, w := range []struct {
		what    string
		weights []float32
		want    int
	}{{"edges", g.EdgeWeights, len(g.Edges)}, {"arcs", g.ArcWeights, len(g.Arcs)}} {
		if w.weights != nil && len(w.weights) != w.want {
			return fmt.Errorf("graph %q: %d weights for %d %s", g.Name, len(w.weights), w.want, w.what)
		}
		for i, v := range w.weights {
			if !(v > 0) || v > math.MaxFloat32 {
				return fmt.Errorf("graph %q: number %d of its %s has the weight %v; each needs a positive one", g.Name, i, w.what,
					v)
			}
		}
	}
	if g.Directed() && (g.EdgeWeights == nil) != (g.ArcWeights == nil) {
		return fmt.Errorf("graph %q: either its edges or its arcs have weights; give weights by WithWeights", g.Name)
	}
	return nil
}

func (g *Graph) Directed() bool { return len(g.Arcs) > 0 }

func compare[E Edge | Arc](a, b E) int {
	return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
}

// checkArcs returns an error unless the arcs are sorted and, but for self loops, join the same pairs as the edges.
func (g *Graph) checkArcs() error {
	ends := make([]Edge, len(g.Arcs))
	for i, a := range g.Arcs {
		if min(a[0], a[1]) < 0 || int(max(a[0], a[1])) >= g.NumNodes {
			return fmt.Errorf("graph %q: arc %d leads from node %d to %d, but nodes are numbered 0 to %d",
				g.Name, i, a[0], a[1], g.NumNodes-1)
		}
		if i > 0 && compare(g.Arcs[i-1], a) >= 0 {
			return fmt.Errorf("graph %q: arc %d (%d, %d) is out of order; give a graph its arcs by WithArcs",
				g.Name, i, a[0], a[1])
		}
		ends[i] = Edge(a)
	}
	if !slices.Equal(canonical(ends), g.Edges) {
		return fmt.Errorf("graph %q: its %d arcs do not join the same nodes as its %d edges; "+
			"every edge needs an arc in one direction or both, and there can be no others",
			g.Name, len(g.Arcs), len(g.Edges))
	}
	return nil
}

// ID is a node's name in the file, or its number.
func (g *Graph) ID(node int) string {
	if g.IDs != nil {
		return g.IDs[node]
	}
	return strconv.Itoa(node)
}

// Classes are the names of the classes, or their numbers.
func (g *Graph) Classes() []string {
	if g.ClassNames != nil {
		return g.ClassNames
	}
	names := make([]string, g.NumClasses)
	for c := range names {
		names[c] = strconv.Itoa(c)
	}
	return names
}

func (g *Graph) Labelled() (count int) {
	for _, l := range g.Labels {
		if l != Unlabelled {
			count++
		}
	}
	return count
}

// Teaches returns an error if a node of the split has no label, so that it cannot be trained on.
func (g *Graph) Teaches(split int) error {
	s := g.Splits[split]
	for _, part := range []struct {
		name string
		mask []bool
	}{{"training", s.Train}, {"validation", s.Val}, {"test", s.Test}} {
		for i, in := range part.mask {
			if in && g.Labels[i] == Unlabelled {
				return fmt.Errorf("graph %q: node %q is a %s node of split %d, but has no label; "+
					"give it one, or take it out of the split", g.Name, g.ID(i), part.name, split)
			}
		}
	}
	return nil
}

// ClassesIn tells for each class whether a node in a mask is of it, and counts those.
func (g *Graph) ClassesIn(mask []bool) (has []bool, count int) {
	has = make([]bool, g.NumClasses)
	for i, in := range mask {
		if l := g.Labels[i]; in && l != Unlabelled && !has[l] {
			has[l] = true
			count++
		}
	}
	return has, count
}

// Untaught returns the names of classes that have nodes, but none for training in a split. The error says if all
// training nodes are of one class, from which nothing can be learnt.
func (g *Graph) Untaught(split int) (classes []string, err error) {
	taught, count := g.ClassesIn(g.Splits[split].Train)
	there, _ := g.ClassesIn(slices.Repeat([]bool{true}, g.NumNodes))
	for c, name := range g.Classes() {
		if there[c] && !taught[c] {
			classes = append(classes, name)
		}
	}
	if count == 1 {
		err = fmt.Errorf("graph %q: the training nodes of split %d are all of one class, from which nothing can be learnt: "+
			"choose other splits, or give your own", g.Name, split)
	}
	return classes, err
}

// Checksum is the SHA-256, in hexadecimal, of all that training depends on: nodes, edges, features, labels, splits and
// directions and weights, but not names, as little-endian 32-bit values. Equal checksums give equal results.
func (g *Graph) Checksum() string {
	h := sha256.New()
	w := bufio.NewWriter(h) // four bytes at a time take several times as long
	put := func(v uint32) { w.Write(binary.LittleEndian.AppendUint32(w.AvailableBuffer(), v)) }
	for _, n := range []int{g.NumNodes, g.NumFeatures, g.NumClasses, len(g.Edges)} {
		put(uint32(n))
	}
	for _, e := range g.Edges {
		put(uint32(e[0]))
		put(uint32(e[1]))
	}
	put(uint32(len(g.Features)))
	for _, v := range g.Features {
		put(math.Float32bits(v))
	}
	put(uint32(len(g.Labels)))
	for _, l := range g.Labels {
		put(uint32(l))
	}
	put(uint32(len(g.Splits)))
	for _, s := range g.Splits {
		// Masks are 1 for training, 2 for validation, 4 for test, else 0, after the number of nodes.
		put(uint32(len(s.Train)))
		for i := range s.Train {
			var in uint32
			for bit, mask := range [][]bool{s.Train, s.Val, s.Test} {
				if mask[i] {
					in |= 1 << bit
				}
			}
			put(in)
		}
	}
	// Undirected graphs have no number of arcs, since checksums in recorded runs have none.
	if g.Directed() {
		put(uint32(len(g.Arcs)))
	}
	for _, a := range g.Arcs {
		put(uint32(a[0]))
		put(uint32(a[1]))
	}
	for _, list := range [][]float32{g.EdgeWeights, g.ArcWeights} { // unweighted graphs have none
		for _, v := range list {
			put(math.Float32bits(v))
		}
	}
	for _, c := range g.Columns {
		put(uint32(len(c.Values)))
		for _, text := range c.Values {
			put(uint32(len(text)))
			w.WriteString(text)
		}
		for _, code := range c.Codes {
			put(uint32(code))
		}
	}
	w.Flush()
	return hex.EncodeToString(h.Sum(nil))
}
