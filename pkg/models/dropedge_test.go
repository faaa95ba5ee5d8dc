package models

import (
	"math"
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// In each training step, DropEdge keeps about the expected number of edges, and keeps both directions of an edge or
// neither. Different steps keep different edges. The weights are normalised by the degrees of the graph of kept edges.
func TestDrawnEdges(t *testing.T) {
	const n, p = 60, 0.3
	var edges []graphs.Edge
	for i := range int32(n) {
		edges = append(edges, graphs.Edge{i, (i + 1) % n}, graphs.Edge{i, (i*i + 7) % n}, graphs.Edge{0, i})
	}
	g, err := graphs.New("ring", n, edges, nil, 0, make([]int32, n), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	a := sparse.Adjacency(g).WithSelfLoops()
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		var all Arrays
		drop := newDropEdge(a, all.Pattern(a, sparse.PatternOptions{Uses: sparse.ForLoopAttention}), &all)
		config := Config{Model: "gcn", SharedSettings: SharedSettings{DropEdge: p}}
		store := model.NewStore()
		defer store.Finalize()
		if err := store.SetRNGStateFromSeed(3); err != nil {
			t.Fatal(err)
		}
		exec, err := model.NewExec(e.Backend, store, func(scope *model.Scope, in []*Node) *Node {
			store.SetTraining(in[0].Graph(), true)
			b := &Builder{Model: &Model{Config: config, Arrays: all.all}, Scope: scope, Graph: in[0].Graph(), arrays: in}
			return drop.normalised(b).Product(ConvertDType(Diagonal(b.Graph, n), dtypes.Float32))
		})
		if err != nil {
			t.Fatal(err)
		}
		defer exec.Finalize()
		var inputs []any
		for _, x := range all.all {
			inputs = append(inputs, x)
		}
		position := make([]int, n)
		for at, i := range drop.pattern.Order() {
			position[i] = at
		}
		known := map[int]bool{}
		for range 3 {
			out, err := exec.Call(inputs...)
			if err != nil {
				t.Fatal(err)
			}
			known[checkDrawn(t, g, position, tensors.MustCopyFlatData[float32](out[0]))] = true
		}
		if len(known) < 2 {
			t.Error("all steps have dropped the same number of edges")
		}
	})
}

// checkDrawn checks the matrix of the edges' weights, [n, n], in one training step with DropEdge. Both directions of an
// edge must have the weight 0, or both must have the weight that follows from the degrees in the graph of kept edges.
// Row position[i] and column position[i] of the matrix belong to node i. checkDrawn returns the number of edges that
// the step has kept.
func checkDrawn(t *testing.T, g *graphs.Graph, position []int, weights []float32) (stay int) {
	t.Helper()
	n := g.NumNodes
	at := func(i, j int32) float64 { return float64(weights[position[i]*n+position[j]]) }
	degree, entries := make([]float64, n), 0
	for k, w := range weights {
		if w > 0 {
			degree[k/n]++
			entries++
		}
	}
	for _, e := range g.Edges {
		i, j := e[0], e[1]
		if at(i, j) > 0 {
			stay++
		}
		for _, pair := range [][2]int32{{i, j}, {j, i}, {i, i}} {
			w, want := at(pair[0], pair[1]), 1/math.Sqrt(degree[position[pair[0]]]*degree[position[pair[1]]])
			if (w != 0 || pair[0] == pair[1]) && math.Abs(w-want) > 1e-6 || (at(i, j) > 0) != (at(j, i) > 0) {
				t.Fatalf("edge %v has weight %g, want 0 or %g in both directions", pair, w, want)
			}
		}
	}
	if share := float64(stay) / float64(len(g.Edges)); entries != 2*stay+n || math.Abs(share-0.7) > 0.15 {
		t.Errorf("%d entries, %d of %d edges: want %d and about 0.7 of them", entries, stay, len(g.Edges), 2*stay+n)
	}
	return stay
}
