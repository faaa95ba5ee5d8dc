package datasets

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/machine"
	"github.com/revgnn/revgnn/pkg/npz"
)

// platonovGraph reads an archive with the arrays of Platonov et al. (2023), "A critical look at the evaluation of GNNs
// under heterophily", or with the names of PyTorch Geometric, DGL and OGB:
//
//   - node_features [n, d], x, feat or node_feat;
//   - edges [m, 2], once or in both directions, edge_index [2, m], or src [m] and dst [m];
//   - node_labels [n], -1 or NaN if unknown, y, label or labels, also [n, 1]; or absent;
//   - train_masks, val_masks and test_masks [splits, n], or train_mask, val_mask and test_mask, [n] or [n, splits], or
//     numbers of nodes, train_idx, valid_idx and test_idx; or none, for random ones of labelled nodes
//     ([labelledSplits]);
//   - edge_weights [m], edge_weight, weights or weight, also [m, 1]: positive numbers; or absent;
//   - directed, an array of revgnn's: true if edges have directions.
//
// All shapes must fit before any array is unpacked. Arrays of other names are in Notes, unless they look like one of
// these that is missing.
func platonovGraph(z *npz.File, name string) (g *graphs.Graph, err error) {
	defer returned(&err)
	labelNames := []string{"node_labels", "y", "label", "labels"}
	weightNames := []string{"edge_weights", "edge_weight", "weights", "weight"}
	features, edges := oneOf(z, "node_features", "x", "feat", "node_feat"), oneOf(z, "edges", "edge_index", "src")
	labels, weights, masks := oneOf(z, labelNames...), oneOf(z, weightNames...), maskArrays(z)
	read, missing := append(masks, features, edges, labels, weights, "directed"), []string{"directed"}
	if edges == "src" {
		read = append(read, "dst")
	}
	if !z.Has(labels) {
		missing = append(missing, labelNames...)
	}
	if !z.Has(weights) {
		missing = append(missing, weightNames[:2]...) // "height" looks like "weight"
	}
	if masks == nil {
		for _, part := range parts {
			missing = append(missing, part+"_masks", part+"_mask", part+"_idx")
		}
	}
	notes := unused(z, read, missing)
	shape := must(z.Shape(features, 2))
	n, d := shape[0], shape[1]
	const splitBytes = 30 // for a node: ten splits of three masks
	if err := cmp.Or(checkNodes(n), machine.Room(splitBytes*int64(n))); err != nil {
		refuse("%s: %w", z.Path, err)
	}
	if z.Has(labels) {
		checkLabels(z, labels, n)
	}
	checkEdges(z, edges)
	count := maskCount(z, masks, n)

	classOf, classes := slices.Repeat([]int32{graphs.Unlabelled}, n), 0
	if z.Has(labels) {
		classOf, classes = npzLabels(z, labels, n, int64(graphs.Unlabelled))
	}
	pairs := npzEdges(z, edges, n)
	splits := npzSplits(z, masks, n, count)
	if masks == nil {
		var note []string
		splits, note = labelledSplits(classOf, classes)
		notes = append(notes, note...)
	}
	directed := false
	if z.Has("directed") {
		v, shape, err := z.Bools("directed", npz.Any)
		if must(v, err); len(v) != 1 {
			refuse("%s: array %q has shape %v; it must be true or false", z.Path, "directed", shape)
		}
		directed = v[0]
	}
	g, err = graphs.New(name, n, pairs, values(z.Float32s(features, 2)), d, classOf, classes, splits)
	if err == nil && directed {
		g, err = withDirections(g, pairs)
	}
	if err == nil && z.Has(weights) {
		w, shape, err := z.Float32s(weights, npz.Any)
		if must(w, err); len(w) != len(pairs) {
			refuse("%s: array %q has shape %v; it must have a number for each of the %d edges", z.Path, weights, shape,
				len(pairs))
		}
		g = must(g.WithWeights(pairs, w))
	}
	if err == nil {
		g.Notes = notes
	}
	return wrap(z.Path)(g, err)
}

// oneOf is the only one of these names that the archive has, or the first if it has none.
func oneOf(z *npz.File, names ...string) string {
	found := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !z.Has(name) })
	if len(found) > 1 {
		refuse("%s has both %q and %q; leave the one that is meant", z.Path, found[0], found[1])
	}
	return append(found, names[0])[0]
}

// maskArrays are the names of the masks, or of the arrays of nodes' numbers, in the order of [parts], or nil.
func maskArrays(z *npz.File) (found []string) {
	for _, end := range []string{"_masks", "_mask", "_idx"} {
		var names []string
		for _, part := range parts {
			if part == "val" && !z.Has(part+end) && z.Has("valid"+end) {
				part = "valid" // as OGB calls it
			}
			names = append(names, part+end)
		}
		if slices.ContainsFunc(names, z.Has) {
			if found != nil {
				refuse("%s has masks of both names, %q and %q; leave those that are meant", z.Path, found[0], names[0])
			}
			found = names
		}
	}
	return found
}

// unused has a sentence for each array that is not read, and refuses one whose name is almost one of those that are
// missing.
func unused(z *npz.File, read, missing []string) (notes []string) {
	for _, name := range z.Names() {
		if slices.Contains(read, name) {
			continue
		}
		for _, known := range missing {
			if !z.Has(known) && (strings.EqualFold(name, known) || like(strings.ToLower(name), known)) {
				refuse("%s has an array %q; is it %q? Give it this name, or leave it out", z.Path, truncate(name), known)
			}
		}
		notes = append(notes, fmt.Sprintf("%s: the array %q is not used", z.Path, truncate(name)))
	}
	return notes
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
	if shape := must(z.Shape(key, npz.Any)); !slices.Equal(shape, []int{n}) && !slices.Equal(shape, []int{n, 1}) {
		refuse("%s: array %q has shape %v, but there are %d nodes; each needs one label", z.Path, key, shape, n)
	}
}

func checkEdges(z *npz.File, key string) {
	if key == "src" {
		if one, two := must(z.Shape(key, 1)), must(z.Shape("dst", 1)); one[0] != two[0] {
			refuse("%s: array %q has shape %v and %q %v; each edge needs both ends", z.Path, key, one, "dst", two)
		}
		return
	}
	shape, pair, how := must(z.Shape(key, 2)), 1, "columns"
	if key == "edge_index" {
		pair, how = 0, "rows"
	}
	if shape[pair] != 2 {
		refuse("%s: array %q has shape %v, but needs two %s", z.Path, key, shape, how)
	}
}

// maskCount is the number of splits of the three masks, whose shapes it checks.
func maskCount(z *npz.File, keys []string, n int) (count int) {
	for k, key := range keys {
		if strings.HasSuffix(key, "_idx") {
			must(z.Shape(key, 1))
			count = 1
			continue
		}
		shape := must(z.Shape(key, npz.Any))
		form, splits, nodes := "splits, nodes", 0, 1
		if strings.HasSuffix(key, "_mask") {
			form, splits, nodes = "nodes, splits", 1, 0
			if len(shape) == 1 {
				shape = append(shape, 1)
			}
		}
		if k == 0 && len(shape) == 2 {
			count = shape[splits]
		}
		if len(shape) != 2 || shape[splits] != count || shape[nodes] != n || count > maxSplits {
			refuse("%s: array %q has shape %v; all three masks need [%s] with %d nodes and at most %d splits",
				z.Path, key, shape, form, n, maxSplits)
		}
	}
	return count
}

// npzLabels reads the labels of n nodes, and the number of classes; unknown stands for no label.
func npzLabels(z *npz.File, key string, n int, unknown int64) ([]int32, int) {
	checkLabels(z, key, n)
	numbers := make([]int64, n)
	for i, v := range values(z.Float32s(key, npz.Any)) { // as floating-point numbers where some are unknown
		switch whole := float64(v); {
		case v != v:
			numbers[i] = unknown
		case whole != math.Trunc(whole) || math.Abs(whole) > math.MaxInt64/2:
			refuse("%s: node %d has the label %v, which is no whole number: "+notRegression, z.Path, i, v)
		default:
			numbers[i] = int64(v)
		}
	}
	labels, classes, err := classNumbers(numbers, unknown)
	if err != nil {
		refuse("%s: %w", z.Path, err)
	}
	return labels, classes
}

const notRegression = "make a few classes of them first, since no model here predicts quantities"

const noneUnknown = math.MinInt64 // an unknown label where files have no number for it

// classNumbers are labels as int32, with [graphs.Unlabelled] for unknown ones, and the largest plus one. Labels of
// which most are a node's own are refused.
func classNumbers(values []int64, unknown int64) ([]int32, int, error) {
	labels := make([]int32, len(values))
	classes, known, different := 0, 0, map[int64]bool{}
	for i, v := range values {
		if v == unknown {
			labels[i] = graphs.Unlabelled
			continue
		}
		if v < 0 || v >= maxClasses {
			return nil, 0, fmt.Errorf("node %d has label %d, but classes are numbered from 0, below %d: leave out "+
				"labels that are not known, and give other classes names or such numbers", i, v, maxClasses)
		}
		labels[i] = int32(v)
		classes = max(classes, int(v)+1)
		known++
		different[v] = true
	}
	const many = 50 // so many classes are too many to be learnt from a node or two each
	if own := len(different); own >= many && 2*own > known {
		return nil, 0, fmt.Errorf("%d labelled nodes have %d different labels, as quantities or identifiers have: "+
			notRegression, known, own)
	}
	return labels, classes, nil
}

// npzEdges reads pairs of nodes, checked before they become int32.
func npzEdges(z *npz.File, key string, n int) []graphs.Edge {
	checkEdges(z, key)
	ends := values(z.Int64s(key, npz.Any))
	if key == "src" { // as in edge_index: first all sources, then all targets
		ends, key = append(ends, values(z.Int64s("dst", 1))...), "edge_index"
	}
	edges := make([]graphs.Edge, len(ends)/2)
	next, other := 2, 1 // the distances to the next edge's first node, and to the edge's second
	if key == "edge_index" {
		next, other = 1, len(edges)
	}
	for i := range edges {
		a, b := ends[next*i], ends[next*i+other]
		if min(a, b) < 0 || max(a, b) >= int64(n) {
			refuse("%s: edge %d joins nodes %d and %d, but nodes are numbered 0 to %d", z.Path, i, a, b, n-1)
		}
		edges[i] = graphs.Edge{int32(a), int32(b)}
	}
	return edges
}

// npzSplits reads the masks of n nodes, whose shapes were checked.
func npzSplits(z *npz.File, keys []string, n, count int) []graphs.Split {
	splits := make([]graphs.Split, count)
	for k, key := range keys {
		part := func(s int) *[]bool { return []*[]bool{&splits[s].Train, &splits[s].Val, &splits[s].Test}[k] }
		if strings.HasSuffix(key, "_idx") {
			*part(0) = make([]bool, n)
			for _, i := range values(z.Int64s(key, 1)) {
				if i < 0 || i >= int64(n) {
					refuse("%s: array %q has the node %d, but nodes are numbered 0 to %d", z.Path, key, i, n-1)
				}
				(*part(0))[i] = true
			}
			continue
		}
		all := values(z.Bools(key, npz.Any))
		for s := range splits {
			mask := all[s*n : (s+1)*n : (s+1)*n]
			if strings.HasSuffix(key, "_mask") {
				mask = make([]bool, n)
				for i := range mask {
					mask[i] = all[i*count+s]
				}
			}
			*part(s) = mask
		}
	}
	return splits
}
