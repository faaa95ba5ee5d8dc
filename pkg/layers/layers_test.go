package layers_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"gonum.org/v1/gonum/mat"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// nodes is the number of nodes of the graph that [ring] makes. The hub of this graph has so many neighbours that
// package sparse computes the sum over them in several parts. width is the number of columns of most states. heads is
// the number of attention heads.
const nodes, width, heads = 50, 4, 3

// ring makes a graph: a cycle, some further edges between nodes of the cycle, and one isolated node. Node 0 of the
// cycle is the hub: it is joined to all other nodes of the cycle.
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

// branch is a block with the arrays that it reads. The field w has the trainable weights. The field arrays has all
// other arrays, such as the indices of a sparse matrix.
type branch struct {
	block  solve.Block
	w      []*tensors.Tensor
	arrays []*tensors.Tensor
}

// branches are the blocks to test, by name.
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
	const wide = 256 // at smaller widths, a reverse chain does not store preactivations (see solve.Keeps)
	all := map[string]branch{
		"wide GCN": {layers.GCN{Adjacency: norm},
			[]*tensors.Tensor{draw(2, 0.95, wide, wide), draw(3, 0.2, wide)}, norm.Tensors()},
		"GCN": {layers.GCN{Adjacency: norm},
			[]*tensors.Tensor{draw(2, 0.95, width, width), draw(3, 0.2, width)}, norm.Tensors()},
		"GAT": {layers.GAT{Pattern: pattern},
			[]*tensors.Tensor{draw(2, 0.8, width, heads*(width+2)), draw(3, 0.2, width)}, pattern.Tensors()},
		"GAT with an ego weight": {layers.GAT{Pattern: pattern, Ego: true, Activation: layers.ActivationSoftplus},
			[]*tensors.Tensor{draw(2, 0.8, width, heads*(width+2)+width), draw(3, 0.2, width)}, pattern.Tensors()},
		"SAGE": {layers.SAGE{Adjacency: norm}, []*tensors.Tensor{draw(2, 0.5, width, width), draw(3, 0.2, width),
			draw(6, 0.4, width, width)}, norm.Tensors()},
		"wide SAGE": {layers.SAGE{Adjacency: norm, Activation: layers.ActivationELU},
			[]*tensors.Tensor{draw(2, 0.5, wide, wide), draw(3, 0.2, wide), draw(6, 0.4, wide, wide)}, norm.Tensors()},
		"GCN with tanh": {layers.GCN{Adjacency: norm, Activation: layers.ActivationTanh},
			[]*tensors.Tensor{draw(2, 0.95, width, width), draw(3, 0.2, width)}, norm.Tensors()},
		"GCN with leaky ReLU": {layers.GCN{Adjacency: norm, Activation: layers.ActivationLeakyReLU},
			[]*tensors.Tensor{draw(2, 0.95, width, width), draw(3, 0.2, width)}, norm.Tensors()},
	}
	all["gated SAGE in the ball"] = all["SAGE"].projected(layers.ProjectionBall).gated()
	all["gated GCN with tanh, nodes centred"] = all["GCN with tanh"].projected(layers.ProjectionCenterNodes).gated()
	all["centred GAT"] = all["GAT with an ego weight"].projected(layers.ProjectionCenter)
	return all
}

// draw makes an array of random numbers whose Frobenius norm is scale.
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

// width is the number d of columns of the states. Among the weights is the bias. Its shape is [d], or [depth, d] if
// each layer has its own bias. No weight has a smaller last dimension than the bias. So d is the smallest last
// dimension of all weights.
func (b branch) width() int {
	least := math.MaxInt
	for _, w := range b.w {
		d := w.Shape().Dimensions
		least = min(least, d[len(d)-1])
	}
	return least
}

// state is a random input for the block. If it has four columns, about half of its rows are longer than sqrt(4). These
// rows lie outside the ball of [layers.ProjectionBall], which has the radius sqrt(4).
func (b branch) state() *tensors.Tensor { return draw(1, 14, nodes, b.width()) }

// execute runs f on the input b.state(), a random cotangent v, and the branch's weights and arrays.
func (b branch) execute(t *testing.T, e *engine.Engine, f func(x, v *Node, w []*Node) []*Node) [][]float32 {
	t.Helper()
	exec, err := NewExec(e.Backend, func(in []*Node) []*Node { return f(in[0], in[1], in[2:]) })
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	args := []any{b.state(), draw(4, 1, nodes, b.width())}
	for _, a := range append(append([]*tensors.Tensor{}, b.w...), b.arrays...) {
		// The program gets a copy, since a tensor belongs to the engine that used it first.
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

// For every block, the derivatives written by hand equal those that GoMLX computes by automatic differentiation.
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

// Large weights make scores of attention that differ by hundreds between rows. GAT and its derivatives are finite all the
// same, also where the pattern has padding, whose scores may be far above those of the row's entries.
func TestLargeScoresOfAttention(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		b := branches(t)["GAT"]
		b.w = []*tensors.Tensor{draw(2, 2000, width, heads*(width+2)), b.w[1]}
		out := b.execute(t, e, func(x, v *Node, w []*Node) []*Node {
			u, tape := b.block.Linearize(x, w)
			q := b.block.Gate(u, v, w)
			dx, shared := b.block.PullX(q, tape, w)
			h := b.block.Activate(b.block.Preactivation(x, w), w)
			auto := Gradient(ReduceAllSum(Mul(h, v)), x, w[0])
			byHand := append([]*Node{b.block.Activate(u, w), dx}, b.block.PullW(q, shared, tape, w)...)
			return append(byHand[:3], h, auto[0], auto[1])
		})
		for i := range 3 {
			compare(t, fmt.Sprintf("number %d of h, dX, dw", i), out[i], out[3+i], 1e-4)
		}
	})
}

// The implicit gradient of a reverse chain equals the gradient through the iterations. If the forward chain is applied
// to the result of the reverse chain, it gives the input of the reverse chain again.
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
				tensors.MustCopyFlatData[float32](b.state()), 1e-5)
			for i := range implicit {
				compare(t, fmt.Sprintf("%s: number %d of result, round trip, gradients", name, i), implicit[i],
					unrolled[i], 1e-4)
			}
		}
	})
}

// In this test, each layer of a chain has its own weights. The test checks the same as TestReverseChain, where all
// layers share their weights: the implicit gradient of a reverse chain equals the gradient through the iterations, and
// the forward chain maps the result of the reverse chain back to the input of the reverse chain.
func TestPerLayerChain(t *testing.T) {
	const depth = 3
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		for name, b := range branches(t) {
			trainable := b.block.Trainable()
			for p := range trainable { // each layer gets another multiple of the weights
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
				tensors.MustCopyFlatData[float32](b.state()), 1e-5)
			for i := range implicit {
				compare(t, fmt.Sprintf("%s: number %d of result, round trip, gradients", name, i), implicit[i],
					unrolled[i], 1e-4)
			}
		}
	})
}

// stacked joins multiples of the tensor a along a new first axis: one multiple for each factor.
func stacked(a *tensors.Tensor, factors ...float32) *tensors.Tensor {
	var all []float32
	for _, f := range factors {
		for _, v := range tensors.MustCopyFlatData[float32](a) {
			all = append(all, f*v)
		}
	}
	return tensors.FromFlatDataAndDimensions(all, append([]int{len(factors)}, a.Shape().Dimensions...)...)
}

// Bound scales two weights only if the sum of their norms exceeds the bound. It then makes the sum equal to the bound.
// ToBound scales in any case. Here ToBound gets one weight, which consists of the matrices of two attention heads. It
// makes the mean of the norms of the two matrices equal to the bound.
func TestBound(t *testing.T) {
	e := enginetest.Open(t, engine.Go)
	for _, c := range []struct{ norm, bound, want float64 }{{2, 0.9, 0.9}, {0.5, 0.9, 0.5}} {
		w, v := draw(5, 2*c.norm/3, 6, 6), draw(6, c.norm/3, 6, 6)
		got := run(t, e, func(in []*Node) []*Node {
			return layers.Bound(layers.FrobeniusNorm, c.bound, in, []int{1, 1})
		}, w, v)
		if sum := layers.Frobenius(got[0]) + layers.Frobenius(got[1]); math.Abs(sum-c.want) > 1e-5 {
			t.Errorf("norm %g bounded by %g became %g, want %g", c.norm, c.bound, sum, c.want)
		}
		got = run(t, e, func(in []*Node) []*Node {
			return layers.ToBound(layers.FrobeniusNorm, c.bound, in[:1], []int{2})
		}, draw(5, c.norm, 12, 6))
		if mean := (layers.Frobenius(got[0][:36]) + layers.Frobenius(got[0][36:])) / 2; math.Abs(mean-c.bound) > 1e-5 {
			t.Errorf("norm %g brought to %g became %g", c.norm, c.bound, mean)
		}
	}
}

// The Schatten norm of a matrix with d rows is at least the largest singular value, and at most d^(1/128) times this
// value. The test checks this for a random matrix, a matrix of rank 1, a matrix with equal singular values, a matrix
// with very large entries, a matrix with very small entries, and the zero matrix. For the matrix of rank 1, the
// gradient of the norm must be u v^T, where u and v are the left and the right singular vector of its only singular
// value that is not 0.
func TestSchatten(t *testing.T) {
	const d = 24
	random := tensors.MustCopyFlatData[float32](draw(7, 3, d, d))
	one, equal := make([]float32, d*d), make([]float32, d*d)
	for i := range d {
		equal[i*d+i] = 0.7
		for j := range d {
			one[i*d+j] = random[i] * random[j]
		}
	}
	scaled := func(w []float32, by float32) []float32 {
		out := slices.Clone(w)
		for i := range out {
			out[i] *= by
		}
		return out
	}
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		for name, w := range map[string][]float32{"random": random, "rank one": one, "orthogonal": equal,
			"large": scaled(random, 1e12), "small": scaled(random, 1e-12), "zero": make([]float32, d*d)} {
			got := run(t, e, func(in []*Node) []*Node { return []*Node{layers.Schatten(in[0])} },
				tensors.FromFlatDataAndDimensions(w, d, d))
			var svd mat.SVD
			m := mat.NewDense(d, d, nil)
			for i, v := range w {
				m.Set(i/d, i%d, float64(v))
			}
			svd.Factorize(m, mat.SVDNone)
			norm, bound := svd.Values(nil)[0], float64(got[0][0])
			if !(bound >= norm) || bound > norm*math.Pow(d, 1.0/128)*(1+1e-4)+1e-14 {
				t.Errorf("%s: the bound is %g, the spectral norm %g", name, bound, norm)
			}
		}
		got := run(t, e, func(in []*Node) []*Node { return Gradient(layers.Schatten(in[0]), in[0]) },
			tensors.FromFlatDataAndDimensions(one, d, d))
		size := layers.Frobenius(one)
		for i, v := range got[0] {
			if math.Abs(float64(v)-float64(one[i])/size) > 1e-4 {
				t.Fatalf("the gradient at %d is %g, want %g", i, v, float64(one[i])/size)
			}
		}
	})
}

// run builds a computation graph by calling f, and executes it on copies of the given tensors.
func run(t *testing.T, e *engine.Engine, f func(in []*Node) []*Node, in ...*tensors.Tensor) [][]float32 {
	t.Helper()
	exec, err := NewExec(e.Backend, f)
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	var args []any
	for _, a := range in {
		args = append(args, must(a.LocalClone()))
	}
	var out [][]float32
	for _, o := range must(exec.Call(args...)) {
		out = append(out, tensors.MustCopyFlatData[float32](o))
	}
	return out
}

// GAT and the attention of GRAND refuse a pattern with an edge in only one direction. The error must ask for a
// symmetric pattern.
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
