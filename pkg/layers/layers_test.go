package layers_test

import (
	"math"
	"math/rand/v2"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

const nodes, width = 30, 4

// ring is a cycle with chords and one isolated node.
func ring(t *testing.T) *sparse.Matrix {
	t.Helper()
	var edges []graphs.Edge
	for i := range int32(nodes - 1) {
		edges = append(edges, graphs.Edge{i, (i + 1) % (nodes - 1)}, graphs.Edge{i, i * i % (nodes - 1)})
	}
	g, err := graphs.New("ring", nodes, edges, nil, 0, make([]int32, nodes), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := sparse.SymNorm(g)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func draw(seed uint64, scale float64, dims ...int) *tensors.Tensor {
	rng := rand.New(rand.NewPCG(seed, 3))
	size := 1
	for _, d := range dims {
		size *= d
	}
	v, sum := make([]float32, size), 0.0
	for i := range v {
		v[i] = float32(rng.NormFloat64())
		sum += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] *= float32(scale / math.Sqrt(sum))
	}
	return tensors.FromFlatDataAndDimensions(v, dims...)
}

func execute(t *testing.T, e *engine.Engine, m *sparse.Matrix, f func(in []*Node) []*Node) [][]float32 {
	t.Helper()
	exec, err := NewExec(e.Backend, f)
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	args := []any{draw(1, 6, nodes, width), draw(2, 0.95, width, width), draw(3, 0.2, width), draw(4, 1, nodes, width)}
	for _, a := range m.Tensors() {
		args = append(args, a)
	}
	out, err := exec.Call(args...)
	if err != nil {
		t.Fatal(err)
	}
	values := make([][]float32, len(out))
	for i, o := range out {
		values[i] = tensors.MustCopyFlatData[float32](o)
	}
	return values
}

func compare(t *testing.T, what string, got, want []float32, tolerance float64) {
	t.Helper()
	var difference, size float64
	for i := range want {
		difference += math.Pow(float64(got[i]-want[i]), 2)
		size += math.Pow(float64(want[i]), 2)
	}
	if d := math.Sqrt(difference / max(size, 1e-30)); !(d <= tolerance) {
		t.Errorf("%s is off by %.2g (relative)", what, d)
	}
}

// The derivative by hand against automatic differentiation of the same block.
func TestGCNPullBackEqualsAutodiff(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		m := ring(t)
		block := layers.GCN{Adjacency: m}
		byHand := execute(t, e, m, func(in []*Node) []*Node {
			w := append([]*Node{in[1], in[2]}, in[4:]...)
			h, tape := block.Linearize(in[0], w)
			grads := block.PullW(in[3], tape, w)
			return []*Node{h, block.Apply(in[0], w), block.PullX(in[3], tape, w), grads[0], grads[1]}
		})
		auto := execute(t, e, m, func(in []*Node) []*Node {
			h := block.Differentiable(in[0], append([]*Node{in[1], in[2]}, in[4:]...))
			return append([]*Node{h, Identity(h)}, Gradient(ReduceAllSum(Mul(h, in[3])), in[0], in[1], in[2])...)
		})
		for i, what := range []string{"Linearize", "Apply", "dX", "dW", "db"} {
			compare(t, what, byHand[i], auto[i], 1e-6)
		}
	})
}

// The reverse chain on a graph: implicit gradient against that of the iterations, and g undoes f.
func TestGCNReverseChain(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		m := ring(t)
		block := layers.GCN{Adjacency: m}
		o := solve.Options{Tolerance: 1e-7, MaxIterations: 100, Order: solve.DefaultOrder}
		chains := map[string]func(*Node, []*Node) *Node{
			"implicit": func(x *Node, w []*Node) *Node { y, _ := solve.ReverseChain(block, x, w, 4, o); return y },
			"unrolled": func(x *Node, w []*Node) *Node { y, _ := solve.ReverseChainUnrolled(block, x, w, 4, o); return y },
		}
		results := map[string][][]float32{}
		for name, chain := range chains {
			results[name] = execute(t, e, m, func(in []*Node) []*Node {
				w := append([]*Node{in[1], in[2]}, in[4:]...)
				y := chain(in[0], w)
				back := solve.ForwardChain(block, y, w, 4)
				return append([]*Node{y, back}, Gradient(ReduceAllSum(Mul(y, in[3])), in[0], in[1], in[2])...)
			})
		}
		compare(t, "f∘g", results["implicit"][1], tensors.MustCopyFlatData[float32](draw(1, 6, nodes, width)), 1e-5)
		for i, what := range []string{"result", "round trip", "dX", "dW", "db"} {
			compare(t, what, results["implicit"][i], results["unrolled"][i], 1e-4)
		}
	})
}

func TestBound(t *testing.T) {
	e := enginetest.Open(t, engine.Go)
	for _, c := range []struct{ norm, bound, want float64 }{{2, 0.9, 0.9}, {0.5, 0.9, 0.5}} {
		exec, err := NewExec(e.Backend, func(w *Node) *Node { return Sqrt(ReduceAllSum(Square(layers.Bound(w, 1, c.bound)))) })
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.Call(draw(5, c.norm, 6, 6))
		if err != nil {
			t.Fatal(err)
		}
		if got := float64(tensors.ToScalar[float32](out[0])); math.Abs(got-c.want) > 1e-5 {
			t.Errorf("norm %g bounded by %g became %g, want %g", c.norm, c.bound, got, c.want)
		}
	}
}
