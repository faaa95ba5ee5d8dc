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

// branch is a layer with the arrays that it reads: w are the trainable weights, arrays all others, such as the indices
// of a sparse matrix.
type branch struct {
	layer  solve.Layer[listed]
	w      []*tensors.Tensor
	arrays []*tensors.Tensor
}

// listed are weights as lists, so that all branches have one type.
type listed struct {
	W      []*Node
	Arrays fixed
}

type fixed []*Node

func (fixed) Fixed() {}

// weights divides a list of nodes into the weights and the other arrays.
func (b branch) weights(w []*Node) listed { return listed{w[:len(b.w)], fixed(w[len(b.w):])} }

// onList is a layer whose weights are made of lists: of gives W, and list the cotangents in the order of the list.
type onList[W any] struct {
	l    solve.Layer[W]
	of   func(w listed) W
	list func(dw W) []*Node
}

func (o onList[W]) Preactivation(x *Node, w listed) *Node { return o.l.Preactivation(x, o.of(w)) }
func (o onList[W]) Activate(u *Node, w listed) *Node      { return o.l.Activate(u, o.of(w)) }
func (o onList[W]) Gate(u, v *Node, w listed) *Node       { return o.l.Gate(u, v, o.of(w)) }
func (o onList[W]) Linearize(x *Node, w listed) (*Node, []*Node) {
	return o.l.Linearize(x, o.of(w))
}
func (o onList[W]) PullX(q *Node, tape []*Node, w listed) (*Node, []*Node) {
	return o.l.PullX(q, tape, o.of(w))
}
func (o onList[W]) PullW(q *Node, shared, tape []*Node, w listed) listed {
	return listed{W: o.list(o.l.PullW(q, shared, tape, o.of(w)))}
}

// taping is the same for a layer that makes its tape alone.
type taping[W any] struct{ onList[W] }

func (o taping[W]) Tape(x *Node, w listed) []*Node {
	return o.l.(interface{ Tape(*Node, W) []*Node }).Tape(x, o.of(w))
}

func gcn(m *sparse.Matrix, l solve.Layer[layers.GCNWeights]) onList[layers.GCNWeights] {
	return onList[layers.GCNWeights]{l, func(w listed) layers.GCNWeights {
		out := layers.GCNWeights{W: w.W[0], B: w.W[1], A: m.On(w.Arrays)}
		if len(w.W) > 2 {
			out.V = w.W[2]
		}
		return out
	}, func(dw layers.GCNWeights) []*Node {
		if dw.V == nil {
			return []*Node{dw.W, dw.B}
		}
		return []*Node{dw.W, dw.B, dw.V}
	}}
}

func gat(p *sparse.Pattern, l solve.Layer[layers.GATWeights]) onList[layers.GATWeights] {
	return onList[layers.GATWeights]{l, func(w listed) layers.GATWeights {
		return layers.GATWeights{Maps: w.W[0], B: w.W[1], Edges: p.On(w.Arrays).Bare()}
	}, func(dw layers.GATWeights) []*Node { return []*Node{dw.Maps, dw.B} }}
}

// branches are the layers to test, by name.
func branches(t *testing.T, e *engine.Engine) map[string]branch {
	t.Helper()
	layout := sparse.LayoutFor(e.Backend)
	norm, err := sparse.SymNorm(ring(t), layout)
	if err != nil {
		t.Fatal(err)
	}
	o := sparse.PatternOptions{Layout: layout, Uses: sparse.ForGradients | sparse.ForLoopAttention, Heads: heads}
	pattern, err := sparse.NewPattern(sparse.Adjacency(ring(t)).WithSelfLoops(), o)
	if err != nil {
		t.Fatal(err)
	}
	const wide = 256 // at smaller widths, a reverse chain does not store preactivations (see solve.Keeps)
	all := map[string]branch{}
	for name, l := range map[string]layers.GCN{"GCN": {}, "wide GCN": {}, "GCN with tanh": {layers.ActivationTanh},
		"GCN with leaky ReLU": {layers.ActivationLeakyReLU}} {
		d := width
		if name == "wide GCN" {
			d = wide
		}
		all[name] = branch{taping[layers.GCNWeights]{gcn(norm, l)},
			[]*tensors.Tensor{draw(2, 0.95, d, d), draw(3, 0.2, d)}, norm.Tensors()}
	}
	for name, l := range map[string]layers.GCN{"SAGE": {}, "wide SAGE": {layers.ActivationELU}} {
		d := width
		if name == "wide SAGE" {
			d = wide
		}
		all[name] = branch{taping[layers.GCNWeights]{gcn(norm, l)},
			[]*tensors.Tensor{draw(2, 0.5, d, d), draw(3, 0.2, d), draw(6, 0.4, d, d)}, norm.Tensors()}
	}
	all["GAT"] = branch{gat(pattern, layers.GAT{}),
		[]*tensors.Tensor{draw(2, 0.8, width, heads*(width+2)), draw(3, 0.2, width)}, pattern.Tensors()}
	all["GAT with an ego weight"] = branch{gat(pattern, layers.GAT{Ego: true, Activation: layers.ActivationSoftplus}),
		[]*tensors.Tensor{draw(2, 0.8, width, heads*(width+2)+width), draw(3, 0.2, width)}, pattern.Tensors()}
	all["gated SAGE in the ball"] = all["SAGE"].projected(layers.ProjectionBall).gated()
	all["gated GCN with tanh, nodes centred"] = all["GCN with tanh"].projected(layers.ProjectionCenterNodes).gated()
	all["centred GAT"] = all["GAT with an ego weight"].projected(layers.ProjectionCenter)
	return all
}

// Each layer with derivatives by hand is equal to its automatic twin: in a reverse chain, the results and all gradients
// are the same.
func TestLayersEqualTheirTwins(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		all := branches(t, e)
		twin := func(name string, of func(x *Node, w listed) *Node) {
			b := all[name]
			o := solve.Options{Tolerance: 1e-7, MaxIterations: 100, Order: solve.DefaultOrder}
			run := func(l solve.Layer[listed]) [][]float32 {
				return b.execute(t, e, func(x, v *Node, w []*Node) []*Node {
					y := solve.Invert(l, x, b.weights(w), 4, o).Z
					y = Add(y, solve.Forward(l, x, b.weights(w), 3))
					return append([]*Node{y},
						Gradient(ReduceAllSum(Mul(y, v)), append([]*Node{x}, w[:len(b.w)]...)...)...)
				})
			}
			byHand, auto := run(b.layer), run(solve.FromFunction(of))
			for i := range byHand {
				compare(t, fmt.Sprintf("%s: number %d of result and gradients", name, i), byHand[i], auto[i], 1e-5)
			}
		}
		layout := sparse.LayoutFor(e.Backend)
		norm := must(sparse.SymNorm(ring(t), layout))
		row := func(b *Node) *Node { return ExpandLeftToRank(b, 2) }
		twin("GCN", func(x *Node, w listed) *Node {
			u := Dot(norm.On(w.Arrays).Product(x), w.W[0]).Product()
			return Max(Add(u, row(w.W[1])), ZerosLike(u))
		})
		twin("SAGE", func(x *Node, w listed) *Node {
			u := Add(Dot(norm.On(w.Arrays).Product(x), w.W[0]).Product(), Dot(x, w.W[2]).Product())
			return Max(Add(u, row(w.W[1])), ZerosLike(u))
		})
		pattern := must(sparse.NewPattern(sparse.Adjacency(ring(t)).WithSelfLoops(),
			sparse.PatternOptions{Layout: layout, Uses: sparse.ForGradients | sparse.ForLoopAttention, Heads: heads}))
		twin("GAT", func(x *Node, w listed) *Node {
			edges, y := pattern.On(w.Arrays), Dot(x, w.W[0]).Product()
			part := func(from, size int) *Node {
				return Reshape(Slice(y, AxisRange(), AxisRange(from, from+size*heads)), -1, size)
			}
			score := Add(edges.Sources(part(heads*width, 1)), edges.Targets(part(heads*(width+1), 1)))
			mixed := edges.Attend(Max(score, MulScalar(score, 0.2)), part(0, width))
			u := ReduceSum(Reshape(mixed, nodes, heads, width), 1)
			return Max(Add(u, row(w.W[1])), ZerosLike(u))
		})
	})
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

// pulled returns h, the cotangent of X and those of the weights, as the layer's methods compute them from v.
func (b branch) pulled(x, v *Node, w []*Node) []*Node {
	own := b.weights(w)
	u, tape := b.layer.Linearize(x, own)
	q := b.layer.Gate(u, v, own)
	dx, shared := b.layer.PullX(q, tape, own)
	return append([]*Node{b.layer.Activate(u, own), dx}, b.layer.PullW(q, shared, tape, own).W...)
}

// differentiated returns the same, as GoMLX computes them.
func (b branch) differentiated(x, v *Node, w []*Node) []*Node {
	h := b.layer.Activate(b.layer.Preactivation(x, b.weights(w)), b.weights(w))
	return append([]*Node{h}, Gradient(ReduceAllSum(Mul(h, v)), append([]*Node{x}, w[:len(b.w)]...)...)...)
}

// For every layer, the derivatives written by hand equal those that GoMLX computes by automatic differentiation.
func TestPullBackEqualsAutodiff(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		for name, b := range branches(t, e) {
			byHand, auto := b.execute(t, e, b.pulled), b.execute(t, e, b.differentiated)
			for i := range byHand {
				compare(t, fmt.Sprintf("%s: number %d of h, dX, dw", name, i), byHand[i], auto[i], 2e-6)
			}
		}
	})
}

// Large weights make scores of attention that differ by hundreds between rows. GAT and its derivatives are finite all
// the same, also where the pattern has padding, whose scores may be far above those of the row's entries.
func TestLargeScoresOfAttention(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		b := branches(t, e)["GAT"]
		b.w = []*tensors.Tensor{draw(2, 2000, width, heads*(width+2)), b.w[1]}
		byHand, auto := b.execute(t, e, b.pulled), b.execute(t, e, b.differentiated)
		for i := range 3 {
			compare(t, fmt.Sprintf("number %d of h, dX, dw", i), byHand[i], auto[i], 1e-4)
		}
	})
}

// The implicit gradient of a reverse chain equals the gradient through the iterations. If the forward chain is applied
// to the result of the reverse chain, it gives the input of the reverse chain again. This holds as well if each layer
// has weights of its own.
func TestReverseChain(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		for _, separate := range []bool{false, true} {
			for name, b := range branches(t, e) {
				layer, depth := b.layer, 4
				if separate { // each layer gets another multiple of the weights
					layer, depth, name = solve.PerLayer(b.layer), 3, name+" per layer"
					for p := range b.w {
						b.w[p] = stacked(b.w[p], 0.7, 1, 0.5)
					}
				}
				run := func(adjoint solve.Adjoint) [][]float32 {
					o := solve.Options{Tolerance: 1e-7, MaxIterations: 100, Order: solve.DefaultOrder, Adjoint: adjoint}
					return b.execute(t, e, func(x, v *Node, w []*Node) []*Node {
						y := solve.Invert(layer, x, b.weights(w), depth, o).Z
						back := solve.Forward(layer, y, b.weights(w), depth)
						return append([]*Node{y, back},
							Gradient(ReduceAllSum(Mul(y, v)), append([]*Node{x}, w[:len(b.w)]...)...)...)
					})
				}
				implicit, unrolled := run(solve.Implicit), run(solve.Unrolled)
				compare(t, name+": f∘g", implicit[1], tensors.MustCopyFlatData[float32](b.state()), 1e-5)
				for i := range implicit {
					compare(t, fmt.Sprintf("%s: number %d of result, round trip, gradients", name, i), implicit[i],
						unrolled[i], 1e-4)
				}
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
			return layers.GAT{}.Preactivation(x, layers.GATWeights{Maps: Concatenate([]*Node{x, x}, 1), B: x,
				Edges: p.On(arrays).Bare()})
		}},
		"GRAND": {sparse.ForGradients, func(p *sparse.Pattern, x *Node, arrays []*Node) *Node {
			return layers.Attention(p.On(arrays).Bare(), x, x, nil, 1)
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
