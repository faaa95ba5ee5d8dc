package sparse_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// random is a graph of n nodes with random edges, about as many as the argument edges says. In addition, node 0 has
// edges to the nodes 1 to hub. If hub is less than n-1, the last node is isolated.
func random(seed uint64, n, edges, hub int) *graphs.Graph {
	rng := rand.New(rand.NewPCG(seed, 1))
	var list []graphs.Edge
	for i := 0; i < edges && n > 2; i++ {
		list = append(list, graphs.Edge{int32(rng.IntN(n - 1)), int32(rng.IntN(n - 1))})
	}
	for i := range hub {
		list = append(list, graphs.Edge{0, int32(1 + i)})
	}
	return must(graphs.New(fmt.Sprintf("random %d", seed), n, list, nil, 0, make([]int32, n), 1, nil))
}

// complete is the graph in which each of the n nodes is a neighbour of all others. With n = 40, all rows of its
// adjacency matrix are so long that they are cut into chunks.
func complete(n int) *graphs.Graph {
	var edges []graphs.Edge
	for i := range int32(n) {
		for j := range i {
			edges = append(edges, graphs.Edge{j, i})
		}
	}
	return must(graphs.New("complete", n, edges, nil, 0, make([]int32, n), 1, nil))
}

// directed is a matrix of random edges between random sources and targets, with random weights. Some edges occur twice.
// In addition, one target has as many edges as the argument hub says. The last target and the last source have no
// edges.
func directed(seed uint64, targets, sources, edges, hub int) *sparse.CSR {
	rng := rand.New(rand.NewPCG(seed, 2))
	var target, source []int32
	for range edges {
		target, source = append(target, int32(rng.IntN(targets-1))), append(source, int32(rng.IntN(sources-1)))
	}
	for j := range hub {
		target, source = append(target, int32(targets/2)), append(source, int32(j%(sources-1)))
	}
	return must(sparse.FromEdges(targets, sources, target, source, normal(rng, len(source))))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// dense lists all numbers of the matrix, zeros included, row by row. Entries at the same position are added up.
func dense(a *sparse.CSR) []float32 {
	out := make([]float32, a.Rows*a.Columns)
	for i := range a.Rows {
		for e := a.Start[i]; e < a.Start[i+1]; e++ {
			out[i*a.Columns+int(a.Column[e])] += a.Weight[e]
		}
	}
	return out
}

func normal(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

// matrix is a tensor of shape [rows, columns].
func matrix[T float32 | float64 | int32](values []T, rows, columns int) *tensors.Tensor {
	return tensors.FromFlatDataAndDimensions(values, rows, columns)
}

// call compiles a program, runs it, and returns its results. The function f builds the program from the nodes that
// stand for args and for arrays. The program runs on copies of both.
func call(t testing.TB, e *engine.Engine, arrays []*tensors.Tensor, f func(in, arrays []*Node) []*Node,
	args ...*tensors.Tensor) []*tensors.Tensor {
	t.Helper()
	exec, err := NewExec(e.Backend, func(in []*Node) []*Node { return f(in[:len(args)], in[len(args):]) })
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	var all []any
	for _, a := range append(append([]*tensors.Tensor{}, args...), arrays...) {
		all = append(all, must(a.LocalClone())) // copies, since a tensor works with one engine only
	}
	out, err := exec.Call(all...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func flat(t *tensors.Tensor) []float32 { return tensors.MustCopyFlatData[float32](t) }

// farthest is the largest difference between a and b. If the largest absolute value in b exceeds 1, the difference is
// divided by this value.
func farthest(a, b []float32) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	worst, size := 0.0, 1.0
	for i := range a {
		d := math.Abs(float64(a[i] - b[i]))
		if math.IsNaN(d) {
			return math.Inf(1)
		}
		worst, size = max(worst, d), max(size, math.Abs(float64(b[i])))
	}
	return worst / size
}
