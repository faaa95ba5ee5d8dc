package datasets

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/machine"
	"github.com/revgnn/revgnn/pkg/npz"
)

// platonovGraph reads an archive with the arrays of Platonov et al. (2023), "A critical look at the evaluation of GNNs
// under heterophily": node_features [n, d]; edges [m, 2], once or in both directions; node_labels [n], -1 if unknown,
// or absent; train_masks, val_masks and test_masks [splits, n], or none, for the [PaperSplits] of labelled nodes; and
// directed, an array of revgnn's: true if edges have directions. All shapes must fit before any array is unpacked.
func platonovGraph(z *npz.File, name string) (g *graphs.Graph, err error) {
	defer returned(&err)
	shape := must(z.Shape("node_features", 2))
	n, d := shape[0], shape[1]
	const splitBytes = 30 // for a node: ten splits of three masks
	if err := cmp.Or(checkNodes(n), machine.Room(splitBytes*int64(n))); err != nil {
		refuse("%s: %w", z.Path, err)
	}
	labelled, masked := z.Has("node_labels"), slices.ContainsFunc(maskKeys, z.Has)
	if labelled {
		checkLabels(z, "node_labels", n)
	}
	checkEdges(z)
	if masked {
		checkMasks(z, n)
	}

	labels, classes := slices.Repeat([]int32{graphs.Unlabelled}, n), 0
	if labelled {
		labels, classes = npzLabels(z, "node_labels", n, int64(graphs.Unlabelled))
	}
	edges := npzEdges(z, n)
	var splits []graphs.Split
	if masked {
		splits = npzSplits(z, n)
	} else {
		splits = labelledSplits(labels)
	}
	directed := false
	if z.Has("directed") {
		v, shape, err := z.Bools("directed", npz.Any)
		if must(v, err); len(v) != 1 {
			refuse("%s: array %q has shape %v; it must be true or false", z.Path, "directed", shape)
		}
		directed = v[0]
	}
	features := values(z.Float32s("node_features", 2))
	g, err = graphs.New(name, n, edges, features, d, labels, classes, splits)
	if err == nil && directed {
		g, err = withDirections(g, edges)
	}
	return wrap(z.Path)(g, err)
}

// wrap adds the file's path to errors.
func wrap(path string) func(*graphs.Graph, error) (*graphs.Graph, error) {
	return func(g *graphs.Graph, err error) (*graphs.Graph, error) {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return g, nil
	}
}

func checkLabels(z *npz.File, key string, n int) {
	if shape := must(z.Shape(key, 1)); shape[0] != n {
		refuse("%s: %d values in %q for %d nodes; each node needs one label", z.Path, shape[0], key, n)
	}
}

func checkEdges(z *npz.File) {
	if shape := must(z.Shape("edges", 2)); shape[1] != 2 {
		refuse("%s: array %q has shape %v, but needs two columns", z.Path, "edges", shape)
	}
}

var maskKeys = []string{"train_masks", "val_masks", "test_masks"}

func checkMasks(z *npz.File, n int) {
	count := must(z.Shape(maskKeys[0], 2))[0]
	for _, key := range maskKeys {
		if shape := must(z.Shape(key, 2)); shape[0] != count || shape[1] != n || count > maxSplits {
			refuse("%s: array %q has shape %v; all three masks need [splits, %d] with at most %d splits",
				z.Path, key, shape, n, maxSplits)
		}
	}
}

// npzLabels reads the labels of n nodes, and the number of classes; unknown stands for no label.
func npzLabels(z *npz.File, key string, n int, unknown int64) ([]int32, int) {
	checkLabels(z, key, n)
	labels, classes, err := classNumbers(values(z.Int64s(key, 1)), unknown)
	if err != nil {
		refuse("%s: %w", z.Path, err)
	}
	return labels, classes
}

const noneUnknown = math.MinInt64 // an unknown label where files have no number for it

// classNumbers are labels as int32, with [graphs.Unlabelled] for unknown ones, and the largest plus one.
func classNumbers(values []int64, unknown int64) ([]int32, int, error) {
	labels := make([]int32, len(values))
	classes := 0
	for i, v := range values {
		if v == unknown {
			labels[i] = graphs.Unlabelled
			continue
		}
		if v < 0 || v >= maxClasses {
			return nil, 0, fmt.Errorf("node %d has label %d, but classes are numbered from 0, below %d",
				i, v, maxClasses)
		}
		labels[i] = int32(v)
		classes = max(classes, int(v)+1)
	}
	return labels, classes, nil
}

// npzEdges reads pairs of nodes, checked before they become int32.
func npzEdges(z *npz.File, n int) []graphs.Edge {
	checkEdges(z)
	ends := values(z.Int64s("edges", 2))
	edges := make([]graphs.Edge, len(ends)/2)
	for i := range edges {
		a, b := ends[2*i], ends[2*i+1]
		if min(a, b) < 0 || max(a, b) >= int64(n) {
			refuse("%s: edge %d joins nodes %d and %d, but nodes are numbered 0 to %d", z.Path, i, a, b, n-1)
		}
		edges[i] = graphs.Edge{int32(a), int32(b)}
	}
	return edges
}

// npzSplits reads the masks of n nodes, whose shapes were checked.
func npzSplits(z *npz.File, n int) []graphs.Split {
	var masks [3][]bool
	for k, key := range maskKeys {
		masks[k] = values(z.Bools(key, 2))
	}
	splits := make([]graphs.Split, must(z.Shape(maskKeys[0], 2))[0])
	for s := range splits {
		row := func(k int) []bool { return masks[k][s*n : (s+1)*n : (s+1)*n] }
		splits[s] = graphs.Split{Train: row(0), Val: row(1), Test: row(2)}
	}
	return splits
}
