package layers_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
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

// More nodes than one chunk of a hub's row has entries.
const nodes, width, heads = 50, 4, 3

// ring is a cycle with chords, a hub joined to all, and one isolated node.
func ring(t *testing.T) *graphs.Graph {
	t.Helper()
	var edges []graphs.Edge
	for i := range int32(nodes - 1) {
		edges = append(edges, graphs.Edge{i, (i + 1) % (nodes - 1)}, graphs.Edge{i, i * i % (nodes - 1)},
			graphs.Edge{0, i})
	}
	g, err := graphs.New("ring", nodes, edges, nil, 0, make([]int32, nodes), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// branch is a block with its weights and the arrays it reads.
type branch struct {
	block  solve.Block
	w      []*tensors.Tensor
	arrays []*tensors.Tensor
}

func branches(t *testing.T) map[string]branch {
	t.Helper()
	norm, err := sparse.SymNorm(ring(t))
	if err != nil {
		t.Fatal(err)
	}
	o := sparse.PatternOptions{Uses: sparse.ForLoopAttention, Heads: heads}
	pattern, err := sparse.NewPattern(sparse.Adjacency(ring(t)).WithSelfLoops(), o)
	if err != nil {
		t.Fatal(err)
	}
	const wide = 256 // solve.Keeps
	return map[string]branch{
		"wide GCN": {layers.GCN{Adjacency: norm},
			[]*tensors.Tensor{draw(2, 0.95, wide, wide), draw(3, 0.2, wide)}, norm.Tensors()},
		"GCN": {layers.GCN{Adjacency: norm},
			[]*tensors.Tensor{draw(2, 0.95, width, width), draw(3, 0.2, width)}, norm.Tensors()},
		"GAT": {layers.GAT{Pattern: pattern},
			[]*tensors.Tensor{draw(2, 0.8, width, heads*(width+2)), draw(3, 0.2, width)}, pattern.Tensors()},
	}
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

// width is that of the states: the weight's rows, in a stack or not.
func (b branch) width() int { d := b.w[0].Shape().Dimensions; return d[len(d)-2] }

// execute runs f on a random input, cotangent and the branch's weights and arrays.
func (b branch) execute(t *testing.T, e *engine.Engine, f func(x, v *Node, w []*Node) []*Node) [][]float32 {
	t.Helper()
	exec, err := NewExec(e.Backend, func(in []*Node) []*Node { return f(in[0], in[1], in[2:]) })
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	args := []any{draw(1, 6, nodes, b.width()), draw(4, 1, nodes, b.width())}
	for _, a := range append(append([]*tensors.Tensor{}, b.w...), b.arrays...) {
		// A copy: a tensor belongs to the engine that used it first.
		args = append(args, must(a.LocalClone()))
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

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
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
func TestPullBackEqualsAutodiff(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		for name, b := range branches(t) {
			trainable := b.block.Trainable()
			byHand := b.execute(t, e, func(x, v *Node, w []*Node) []*Node {
				u, tape := b.block.Linearize(x, w)
				q := b.block.Gate(u, v, w)
				dx, shared := b.block.PullX(q, tape, w)
				return append([]*Node{b.block.Activate(u, w), dx}, b.block.PullW(q, shared, tape, w)...)
			})
			auto := b.execute(t, e, func(x, v *Node, w []*Node) []*Node {
				h := b.block.Activate(b.block.Preactivation(x, w), w)
				return append([]*Node{h},
					Gradient(ReduceAllSum(Mul(h, v)), append([]*Node{x}, w[:trainable]...)...)...)
			})
			for i := range byHand {
				compare(t, fmt.Sprintf("%s: number %d of h, dX, dw", name, i), byHand[i], auto[i], 2e-6)
			}
		}
	})
}

// The reverse chain on a graph: implicit gradient against that of the iterations, and g undoes f.
func TestReverseChain(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		for name, b := range branches(t) {
			o := solve.Options{Tolerance: 1e-7, MaxIterations: 100, Order: solve.DefaultOrder}
			run := func(chain func(solve.Block, *Node, []*Node, int,
				solve.Options) (*Node, *solve.Stats)) [][]float32 {
				return b.execute(t, e, func(x, v *Node, w []*Node) []*Node {
					y, _ := chain(b.block, x, w, 4, o)
					back := solve.ForwardChain(b.block, y, w, 4)
					return append([]*Node{y, back},
						Gradient(ReduceAllSum(Mul(y, v)), append([]*Node{x}, w[:b.block.Trainable()]...)...)...)
				})
			}
			implicit, unrolled := run(solve.ReverseChain), run(solve.ReverseChainUnrolled)
			compare(t, name+": f∘g", implicit[1],
				tensors.MustCopyFlatData[float32](draw(1, 6, nodes, b.width())), 1e-5)
			for i := range implicit {
				compare(t, fmt.Sprintf("%s: number %d of result, round trip, gradients", name, i), implicit[i],
					unrolled[i], 1e-4)
			}
		}
	})
}

// Layers with weights of their own: reverse chains undo forward chains, and have the gradient of their iterations.
func TestPerLayerChain(t *testing.T) {
	const depth = 3
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		for name, b := range branches(t) {
			trainable := b.block.Trainable()
			for p := range trainable { // smaller, so that the layers differ
				b.w[p] = stacked(b.w[p], 0.7, 1, 0.5)
			}
			block := solve.PerLayer(b.block)
			o := solve.Options{Tolerance: 1e-7, MaxIterations: 100, Order: solve.DefaultOrder}
			run := func(chain func(solve.Block, *Node, []*Node, int,
				solve.Options) (*Node, *solve.Stats)) [][]float32 {
				return b.execute(t, e, func(x, v *Node, w []*Node) []*Node {
					y, _ := chain(block, x, w, depth, o)
					back := solve.ForwardChain(block, y, w, depth)
					return append([]*Node{y, back},
						Gradient(ReduceAllSum(Mul(y, v)), append([]*Node{x}, w[:trainable]...)...)...)
				})
			}
			implicit, unrolled := run(solve.ReverseChain), run(solve.ReverseChainUnrolled)
			compare(t, name+": f∘g", implicit[1],
				tensors.MustCopyFlatData[float32](draw(1, 6, nodes, b.width())), 1e-5)
			for i := range implicit {
				compare(t, fmt.Sprintf("%s: number %d of result, round trip, gradients", name, i), implicit[i],
					unrolled[i], 1e-4)
			}
		}
	})
}

// stacked are multiples of a tensor on top of each other.
func stacked(a *tensors.Tensor, factors ...float32) *tensors.Tensor {
	var all []float32
	for _, f := range factors {
		for _, v := range tensors.MustCopyFlatData[float32](a) {
			all = append(all, f*v)
		}
	}
	return tensors.FromFlatDataAndDimensions(all, append([]int{len(factors)}, a.Shape().Dimensions...)...)
}

func TestBound(t *testing.T) {
	e := enginetest.Open(t, engine.Go)
	for _, c := range []struct{ norm, bound, want float64 }{{2, 0.9, 0.9}, {0.5, 0.9, 0.5}} {
		exec, err := NewExec(e.Backend, func(w *Node) *Node {
			return Sqrt(ReduceAllSum(Square(layers.Bound(w, 1, c.bound))))
		})
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

// Blocks whose derivatives read the pattern as its own transpose refuse directed edges.
func TestDirectedEdgesAreRefused(t *testing.T) {
	a := must(sparse.FromEdges(2, 2, []int32{0}, []int32{1}, nil))
	e := enginetest.Open(t, engine.Go)
	for name, c := range map[string]struct {
		uses  sparse.Use
		build func(p *sparse.Pattern, x *Node, arrays []*Node) *Node
	}{
		"GAT": {sparse.ForLoopAttention, func(p *sparse.Pattern, x *Node, arrays []*Node) *Node {
			return layers.GAT{Pattern: p}.Preactivation(x,
				append([]*Node{Concatenate([]*Node{x, x}, 1), x}, arrays...))
		}},
		"GRAND": {sparse.ForGradients, func(p *sparse.Pattern, x *Node, arrays []*Node) *Node {
			return layers.Attention(p.Bare(arrays), x, x, 1)
		}},
	} {
		p := must(sparse.NewPattern(a, sparse.PatternOptions{Uses: c.uses}))
		exec := must(NewExec(e.Backend, func(in []*Node) *Node { return c.build(p, in[0], in[1:]) }))
		args := []any{draw(1, 1, 2, 2)}
		for _, a := range p.Tensors() {
			args = append(args, a)
		}
		if _, err := exec.Call(args...); err == nil || !strings.Contains(err.Error(), "symmetric pattern") {
			t.Errorf("%s on a directed edge: %v", name, err)
		}
	}
}
