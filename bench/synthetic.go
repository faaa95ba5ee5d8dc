package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/revgnn/revgnn/pkg/npz"
)

// The kinds of synthetic graphs. In both kinds, the number of edges is exactly 10 times the number of nodes. There is
// one split: half of the nodes are for training, a quarter for validation and a quarter for the test. The numbers of
// the nodes are in random order, as in graphs from databases.
const (
	// communities is a kind of graph with communities of 1000 nodes and with uneven degrees: a degree-corrected planted
	// partition (Karrer and Newman 2011). One end of an edge may be in any community. With probability 0.8, the other
	// end is in the same community. Otherwise it may be in any community, too. In a community of s nodes, the chance to
	// draw node k is proportional to (k/s)^(-1/3). Each community has one of 5 labels. Nodes with the same label have
	// features around the same centre.
	communities = "communities"
	// random is a kind of graph in which both ends of each edge are drawn uniformly from all nodes. A node has one of 2
	// labels, which are drawn independently of the edges. Nodes with the same label have features around the same
	// centre.
	random = "random"
)

var kinds = []string{communities, random}

const (
	edgesPerNode  = 10
	features      = 32
	communitySize = 1000
	inside        = 0.8
	graphSeed     = 1
)

// Synthetic describes a synthetic graph. The same description always gives the same graph.
type Synthetic struct {
	Kind  string
	Nodes int
	Seed  uint64
}

// parseSynthetic reads the description of a synthetic graph, such as "communities:100000". If dataset does not begin
// with a kind of synthetic graph, it is the name of a public dataset, and ok is false.
func parseSynthetic(dataset string) (s Synthetic, ok bool, err error) {
	kind, count, _ := strings.Cut(dataset, ":")
	if !slices.Contains(kinds, kind) {
		return s, false, nil
	}
	n, err := strconv.Atoi(count)
	if err != nil || n < 100 || n > 1<<24 {
		return s, true, fmt.Errorf("synthetic graph %q: write %s:NODES, with 100 to %d nodes", dataset, kind, 1<<24)
	}
	return Synthetic{kind, n, graphSeed}, true, nil
}

// file returns the path of the graph's .npz in a folder. The authors' code replaces dashes in the name by underscores
// when it looks for the file. So the name has no dashes.
func (s Synthetic) file(dir string) string {
	return filepath.Join(dir, fmt.Sprintf("%s_%d_seed%d.npz", s.Kind, s.Nodes, s.Seed))
}

// ensure writes the graph's file, unless it is there already.
func (s Synthetic) ensure(dir string) (path string, err error) {
	path = s.file(dir)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	return path, npz.Write(path, s.arrays())
}

// arrays returns the arrays of the graph, by the keys of Platonov et al.
func (s Synthetic) arrays() []npz.Named {
	rng := rand.New(rand.NewPCG(s.Seed, uint64(s.Nodes)))
	n := s.Nodes
	shuffled := rng.Perm(n)
	labels, x := s.labelled(rng, shuffled)
	train, val, test := make([]bool, n), make([]bool, n), make([]bool, n)
	for i, v := range rng.Perm(n) {
		train[v], val[v], test[v] = i < n/2, i >= n/2 && i < n/2+n/4, i >= n/2+n/4
	}
	edges := s.edges(rng, shuffled)
	return []npz.Named{
		{Name: "node_features", Shape: []int{n, features}, Values: x},
		{Name: "node_labels", Shape: []int{n}, Values: labels},
		{Name: "edges", Shape: []int{len(edges) / 2, 2}, Values: edges},
		{Name: "train_masks", Shape: []int{1, n}, Values: train},
		{Name: "val_masks", Shape: []int{1, n}, Values: val},
		{Name: "test_masks", Shape: []int{1, n}, Values: test},
	}
}

// labelled draws the labels and the features of the nodes. First it draws a centre for each label: half of a standard
// normal vector. A node's features are the centre of its label plus a standard normal vector. The i-th node, if nodes
// are counted community by community, has the number node[i] in the graph.
func (s Synthetic) labelled(rng *rand.Rand, node []int) (labels []int32, x []float32) {
	classes := 5
	if s.Kind == random {
		classes = 2
	}
	centres := make([]float64, classes*features)
	for i := range centres {
		centres[i] = rng.NormFloat64() / 2
	}
	labels, x = make([]int32, s.Nodes), make([]float32, s.Nodes*features)
	label := 0
	for i, v := range node {
		if s.Kind == random || i%communitySize == 0 {
			label = rng.IntN(classes)
		}
		labels[v] = int32(label)
		for k := range features {
			x[v*features+k] = float32(centres[label*features+k] + rng.NormFloat64())
		}
	}
	return labels, x
}

// edges draws edges until it has edgesPerNode * s.Nodes different ones. The i-th node, if nodes are counted community
// by community, has the number node[i] in the graph.
func (s Synthetic) edges(rng *rand.Rand, node []int) []int32 {
	want := edgesPerNode * s.Nodes
	keys := make([]uint64, 0, want)
	for len(keys) < want {
		for range want - len(keys) {
			a, b := s.edge(rng)
			if a, b = node[a], node[b]; a != b {
				keys = append(keys, uint64(min(a, b))<<32|uint64(max(a, b)))
			}
		}
		slices.Sort(keys)
		keys = slices.Compact(keys)
	}
	flat := make([]int32, 2*want)
	for i, k := range keys {
		flat[2*i], flat[2*i+1] = int32(k>>32), int32(k&0xffffffff)
	}
	return flat
}

// edge draws the two ends of an edge. Nodes are counted community by community here: the first 1000 nodes are the first
// community, and so on.
func (s Synthetic) edge(rng *rand.Rand) (a, b int) {
	if s.Kind == random {
		return rng.IntN(s.Nodes), rng.IntN(s.Nodes)
	}
	// within draws a node of the same community as the node with the number at. If u is uniform between 0 and 1, then x
	// = u^1.5 has a density proportional to x^(-1/3). So nodes are drawn as described at [communities].
	within := func(at int) int {
		start := at / communitySize * communitySize
		size := min(communitySize, s.Nodes-start)
		return start + min(size-1, int(float64(size)*math.Pow(rng.Float64(), 1.5)))
	}
	a = within(rng.IntN(s.Nodes))
	if rng.Float64() < inside {
		return a, within(a)
	}
	return a, within(rng.IntN(s.Nodes))
}
