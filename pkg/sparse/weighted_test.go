package sparse_test

import (
	"math"
	"math/rand/v2"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// complete is a graph in which every node has n-1 neighbours: with 40 nodes all rows are long ones.
func complete(t *testing.T, n int) *graphs.Graph {
	t.Helper()
	var edges []graphs.Edge
	for i := range int32(n) {
		for j := range i {
			edges = append(edges, graphs.Edge{j, i})
		}
	}
	g, err := graphs.New("complete", n, edges, nil, 0, make([]int32, n), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// What holds for any weights, on graphs of all layouts: products and dots are each other's adjoints, the transpose's product
// is the adjoint of the product, and rows of a softmax add up to 1.
func TestWeightedIdentities(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		for name, g := range map[string]*graphs.Graph{
			"one node": random(t, 1, 1, 0, 0), "no edges": random(t, 2, 7, 0, 0), "short rows": random(t, 3, 50, 100, 0),
			"hub": random(t, 4, 150, 200, 120), "hub of three levels": random(t, 7, 1200, 300, 1100), "long rows alone": complete(t, 40),
		} {
			s, err := sparse.SelfLoops(g)
			if err != nil {
				t.Fatal(err)
			}
			const d = 3
			rng := rand.New(rand.NewPCG(5, 6))
			n := s.Size()
			exec, err := NewExec(e.Backend, func(in []*Node) []*Node {
				a := s.On(in[3:])
				x, g := in[0], in[1]
				ones := a.Softmax(ZerosLike(in[2]))
				w := Mul(in[2], ones) // zero on padding
				sum := func(x, y *Node) *Node { return ReduceAllSum(Mul(x, y)) }
				twice := a.Transpose(a.Transpose(w))
				return []*Node{sum(a.Product(w, x), g), sum(w, a.Dots(g, x, 1)), sum(a.Product(a.Transpose(w), g), x),
					ReduceAllSum(Abs(Sub(twice, w))), ReduceAllMax(Abs(Sub(a.RowSum(a.Softmax(MulScalar(in[2], 200))), ScalarOne(x.Graph(), x.DType())))),
					ReduceAllSum(a.Diagonal()), ReduceAllSum(ones)}
			})
			if err != nil {
				t.Fatal(err)
			}
			defer exec.Finalize()
			args := []any{tensors.FromFlatDataAndDimensions(normal(rng, n*d), n, d), tensors.FromFlatDataAndDimensions(normal(rng, n*d), n, d),
				tensors.FromFlatDataAndDimensions(normal(rng, s.Places()), s.Places(), 1)}
			for _, a := range s.Tensors() {
				args = append(args, a)
			}
			out, err := exec.Call(args...)
			if err != nil {
				t.Fatal(err)
			}
			v := make([]float64, len(out))
			for i, o := range out {
				v[i] = float64(tensors.ToScalar[float32](o))
			}
			limit := 1e-5 * max(1, float64(n))
			if math.Abs(v[0]-v[1]) > limit || math.Abs(v[0]-v[2]) > limit {
				t.Errorf("%s: <Wx,g> = %g, <w,dots> = %g, <W^T g,x> = %g", name, v[0], v[1], v[2])
			}
			if v[3] != 0 || v[4] > 1e-5 || v[5] != float64(n) || math.Abs(v[6]-float64(n)) > limit*10 {
				t.Errorf("%s: transposing twice changes by %g, rows of a softmax differ from 1 by %g, %g entries on the diagonal, %g in all rows; %d nodes", name, v[3], v[4], v[5], v[6], n)
			}
		}
	})
}

// BenchmarkWeighted compares a product with the products per edge that its derivative by the weights needs.
func BenchmarkWeighted(b *testing.B) {
	e := enginetest.Open(b, engine.CPU)
	rng := rand.New(rand.NewPCG(7, 8))
	const n, d = 10000, 64
	var edges []graphs.Edge
	for range 4 * n {
		edges = append(edges, graphs.Edge{int32(rng.IntN(n)), int32(rng.IntN(n))})
	}
	g, err := graphs.New("random", n, edges, nil, 0, make([]int32, n), 1, nil)
	if err != nil {
		b.Fatal(err)
	}
	s, err := sparse.SelfLoops(g)
	if err != nil {
		b.Fatal(err)
	}
	for name, f := range map[string]func(a sparse.Weighted, w, x *Node) *Node{
		"product": func(a sparse.Weighted, w, x *Node) *Node { return a.Product(w, x) },
		"dots":    func(a sparse.Weighted, _, x *Node) *Node { return a.Dots(x, x, 1) },
		"mirror":  func(a sparse.Weighted, w, _ *Node) *Node { return a.Transpose(w) },
	} {
		b.Run(name, func(b *testing.B) {
			exec, err := NewExec(e.Backend, func(in []*Node) *Node { return f(s.On(in[2:]), in[0], in[1]) })
			if err != nil {
				b.Fatal(err)
			}
			defer exec.Finalize()
			args := []any{tensors.FromFlatDataAndDimensions(normal(rng, s.Places()), s.Places(), 1), tensors.FromFlatDataAndDimensions(normal(rng, n*d), n, d)}
			for _, a := range s.Tensors() {
				args = append(args, a)
			}
			for b.Loop() {
				out, err := exec.Call(args...)
				if err != nil {
					b.Fatal(err)
				}
				tensors.MustCopyFlatData[float32](out[0])
				out[0].MustFinalizeAll()
			}
		})
	}
}
