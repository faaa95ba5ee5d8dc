package datasets

import (
	"fmt"
	"slices"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/npz"
)

// platonovGraph reads an archive with the arrays of Platonov et al. (2023), "A critical look at the evaluation of GNNs
// under heterophily": node_features [n, d]; edges [m, 2], once or in both directions; node_labels [n], -1 if unknown,
// or absent; train_masks, val_masks and test_masks [splits, n], or none, for the [PaperSplits] of labelled nodes; and
// directed, an array of revgnn's: true if edges have directions.
func platonovGraph(z *npz.File, name string) (*graphs.Graph, error) {
	n, d, err := checkPlatonov(z)
	if err != nil {
		return nil, err
	}
	features, _, err := z.Float32s("node_features", 2)
	if err != nil {
		return nil, err
	}
	labels, classes, err := npzLabels(z, labelsKey, n)
	if err != nil {
		return nil, err
	}
	edges, err := npzEdges(z, n)
	if err != nil {
		return nil, err
	}
	splits, err := npzSplits(z, labels)
	if err != nil {
		return nil, err
	}
	directed, err := npzDirected(z)
	if err != nil {
		return nil, err
	}
	g, err := graphs.New(name, n, edges, features, d, labels, classes, splits)
	if err == nil && directed {
		g, err = withDirections(g, edges)
	}
	return wrap(z.Path)(g, err)
}

func npzDirected(z *npz.File) (bool, error) {
	const key = "directed"
	if !z.Has(key) {
		return false, nil
	}
	v, shape, err := z.Bools(key, npz.Any)
	if err == nil && len(v) != 1 {
		err = fmt.Errorf("%s: array %q has shape %v; it must be true or false", z.Path, key, shape)
	}
	return err == nil && v[0], err
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

const labelsKey = "node_labels"

// npzLabels reads the labels of n nodes, and the number of classes; without the array, none are known.
func npzLabels(z *npz.File, key string, n int) ([]int32, int, error) {
	if key == labelsKey && !z.Has(key) {
		return slices.Repeat([]int32{graphs.Unlabelled}, n), 0, nil
	}
	if err := checkLabels(z, key, n); err != nil {
		return nil, 0, err
	}
	values, _, err := z.Int64s(key, 1)
	if err != nil {
		return nil, 0, err
	}
	labels, classes, err := classNumbers(values, func(i int) bool {
		return key == labelsKey && values[i] == int64(graphs.Unlabelled)
	})
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", z.Path, err)
	}
	return labels, classes, nil
}

// classNumbers are labels as int32, with [graphs.Unlabelled] for unknown ones, and the largest plus one.
func classNumbers(values []int64, unknown func(node int) bool) ([]int32, int, error) {
	labels := make([]int32, len(values))
	classes := 0
	for i, v := range values {
		if unknown(i) {
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
func npzEdges(z *npz.File, n int) ([]graphs.Edge, error) {
	if err := checkEdges(z); err != nil {
		return nil, err
	}
	ends, shape, err := z.Int64s("edges", 2)
	if err != nil {
		return nil, err
	}
	edges := make([]graphs.Edge, shape[0])
	for i := range edges {
		a, b := ends[2*i], ends[2*i+1]
		if min(a, b) < 0 || max(a, b) >= int64(n) {
			return nil, fmt.Errorf("%s: edge %d joins nodes %d and %d, but nodes are numbered 0 to %d",
				z.Path, i, a, b, n-1)
		}
		edges[i] = graphs.Edge{int32(a), int32(b)}
	}
	return edges, nil
}

func npzSplits(z *npz.File, labels []int32) ([]graphs.Split, error) {
	if !hasMasks(z) {
		return labelledSplits(labels), nil
	}
	n := len(labels)
	var masks [3][]bool
	count := 0
	for k, key := range maskKeys {
		mask, shape, err := z.Bools(key, 2)
		if err != nil {
			return nil, err
		}
		masks[k], count = mask, shape[0]
	}
	splits := make([]graphs.Split, count)
	for s := range splits {
		row := func(k int) []bool { return masks[k][s*n : (s+1)*n : (s+1)*n] }
		splits[s] = graphs.Split{Train: row(0), Val: row(1), Test: row(2)}
	}
	return splits, nil
}
