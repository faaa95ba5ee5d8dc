package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/npz"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/trained"
)

// Prepared says where the files of a case are, and how large its graph is.
type Prepared struct {
	// Dataset is what revgnn is given: a name, or the path in File of an .npz.
	Dataset string `json:"dataset"`
	File    string `json:"file"`
	// Weights is the path of an .npz with the initial weights.
	Weights  string `json:"weights"`
	Nodes    int    `json:"nodes"`
	Edges    int    `json:"edges"`
	Features int    `json:"features"`
	Classes  int    `json:"classes"`
	// Layout is the fastest for PyTorch Geometric ([options.trial]).
	Layout string `json:"layout,omitempty"`
}

// entries are those of the adjacency with self loops.
func (p Prepared) entries() int { return 2*p.Edges + p.Nodes }

const weightSeed = 1

// prepare makes the files of a case in the folder out.
func prepare(ctx context.Context, c Case, out string, options datasets.Options) (p Prepared, err error) {
	synthetic, is, err := parseSynthetic(c.Dataset)
	if err != nil {
		return p, err
	}
	if is {
		p.File, err = synthetic.ensure(filepath.Join(out, "graphs"))
		p.Dataset = p.File
	} else {
		p.Dataset = c.Dataset
		p.File, err = public(ctx, c.Dataset, options)
	}
	if err != nil {
		return p, err
	}
	z, err := npz.Open(p.File)
	if err != nil {
		return p, err
	}
	defer z.Close()
	features, err := z.Shape("node_features", 2)
	if err != nil {
		return p, err
	}
	edges, err := z.Shape("edges", 2)
	if err != nil {
		return p, err
	}
	p.Nodes, p.Features, p.Edges = features[0], features[1], edges[0]
	labels, _, err := z.Int64s("node_labels", 1)
	if err != nil {
		return p, err
	}
	p.Classes = int(slices.Max(labels)) + 1
	weights, err := drawn(c.config, p.Features, p.Classes)
	if err != nil {
		return p, err
	}
	p.Weights = filepath.Join(out, "weights", c.Name+".npz")
	if err := os.MkdirAll(filepath.Dir(p.Weights), 0o777); err != nil {
		return p, err
	}
	return p, trained.WriteWeights(p.Weights, weights)
}

// public is the file of a public dataset, downloaded if it is missing.
func public(ctx context.Context, name string, options datasets.Options) (path string, err error) {
	info, err := datasets.Info(name)
	if err != nil {
		return "", err
	}
	if info.Format != data.Platonov {
		return "", fmt.Errorf("dataset %s is no single .npz file with Platonov's keys, which the peer reads: choose one "+
			"that is", name)
	}
	dir, err := datasets.Dir(options.Dir)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, info.Files[0].Name), datasets.Get(ctx, name, options)
}

// drawn are initial weights that all programs start from, under the names of PyTorch's parameters.
func drawn(c train.Config, features, classes int) (map[string]train.Array, error) {
	list, err := models.Parameters(c, features, classes)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(weightSeed, 0))
	parameters := map[string]train.Array{}
	for _, p := range list {
		parameters[p.Name] = train.Array{Shape: p.Shape, Values: p.Draw(rng)}
	}
	return parameters, nil
}

// The kinds of synthetic graphs: 10 edges for each node, one split (half of the nodes for training, a quarter each for
// validation and test), and node numbers in random order, as in graphs from databases.
const (
	// communities of 1000 nodes with uneven degrees: a degree-corrected planted partition (Karrer and Newman 2011).
	// With probability 0.8 both ends of an edge are in one community; node k of s is drawn with a chance ∝
	// (k/s)^(-1/3). A community has one of 5 labels.
	communities = "communities"
	// random graphs draw both ends uniformly, and one of 2 labels.
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

// Synthetic describes a graph, always the same.
type Synthetic struct {
	Kind  string
	Nodes int
}

// parseSynthetic reads "communities:100000"; ok is false for the name of a public dataset.
func parseSynthetic(dataset string) (s Synthetic, ok bool, err error) {
	kind, count, _ := strings.Cut(dataset, ":")
	if !slices.Contains(kinds, kind) {
		return s, false, nil
	}
	n, err := strconv.Atoi(count)
	if err != nil || n < 100 || n > 1<<24 {
		return s, true, fmt.Errorf("synthetic graph %q: write %s:NODES, with 100 to %d nodes", dataset, kind, 1<<24)
	}
	return Synthetic{kind, n}, true, nil
}

// ensure writes the graph's file into dir, unless it is there. Its name has no dashes, which the authors' code would
// replace.
func (s Synthetic) ensure(dir string) (path string, err error) {
	path = filepath.Join(dir, fmt.Sprintf("%s_%d_seed%d.npz", s.Kind, s.Nodes, graphSeed))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	return path, npz.Write(path, s.arrays())
}

// arrays are those of Platonov et al.
func (s Synthetic) arrays() []npz.Named {
	rng := rand.New(rand.NewPCG(graphSeed, uint64(s.Nodes)))
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

// labelled draws labels and features: half a standard normal vector for each label, plus one for each node. node[i] is
// the number of the i-th node, community by community.
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

// edges draws until there are enough different ones.
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
	// u^1.5 of a uniform u has a density ∝ x^(-1/3).
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
