package models

import (
	"fmt"
	"math"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	Register(Kind{Name: "fsgnn", Weighted: true, Title: "FSGNN",
		Layer:     "softmax(a)_i normalised rows of (P_i W_i + b_i), P_i one of X, A^k X and Ã^k X",
		Reference: "Maurya et al., Journal of Computational Science 2022",
		Shared:    []string{"hidden", "dropout"},
		Own:       fsgnnSettings{Hops: 3},
		Defaults:  func(c *Config) { c.Hidden, c.Dropout = 64, 0.5 },
		Depth:     func(c Config) string { return fmt.Sprint(OwnOf[fsgnnSettings](c).Hops) },
		New:       func(c Config) Network { return &fsgnn{hops: OwnOf[fsgnnSettings](c).Hops} }})
}

type fsgnnSettings struct {
	Hops int `help:"hops that features are gathered from" least:"1" most:"64"`
}

// fsgnn is FSGNN (Maurya, Liu and Murata, "Simplifying approach to node classification in graph neural networks",
// Journal of Computational Science 2022). It reads the node features X and 2K propagated copies side by side. The
// parameters have the names of the authors' code, https://github.com/sunilkmaurya/FSGNN:
//
//	P      = X, A X, Ã X, A² X, Ã² X, …, A^K X, Ã^K X       P_0 … P_2K, [n, m] each
//	H_i    = softmax(a)_i norm(P_i W_i^T + b_i)             [n, d], for each P_i
//	logits = dropout(ReLU([H_0, …, H_2K])) W^T + b          [H_0, …, H_2K] is [n, (2K+1) d]
//
// A and Ã, [n, n], are the symmetrically normalised adjacency without and with self loops. norm divides rows by their
// lengths ("hop-normalisation"). The entries of a, [2K+1], start at 1.
//
// The default K = 3 is that of the code; the publication has 3, 8, 16 and 32, d = 64, dropout from 0.5 to 0.7, and
// separate learning rates and weight decays for a, the W_i and W. The code also divides the features' rows by their
// sums.
//
// Prepare propagates dense features once. The 2K arrays of sparse features, such as Cora's 1433 words, would be too
// large: these are multiplied by the W_i first, and [hopSteps] propagates the products of d columns in every step.
type fsgnn struct {
	hops      int
	adjacency *sparse.Matrix    // without normalisation; nil for dense features
	roots     *tensors.Tensor   // for sparse features, of degrees d: 1/sqrt(d), or 0, and 1/sqrt(d+1), [n, 2]
	gathered  []*tensors.Tensor // for dense features: A^k X and Ã^k X for k = 1, 2, …
}

func (f *fsgnn) Prepare(g *graphs.Graph, arrays *Arrays) {
	a := sparse.Adjacency(g)
	if _, yes := Sparse(g); yes {
		f.adjacency = arrays.Matrix(a)
		f.roots = arrays.ByDegree(a, func(d float64) float64 {
			if d == 0 {
				return 0
			}
			return 1 / math.Sqrt(d)
		}, func(d float64) float64 { return 1 / math.Sqrt(d+1) })
		return
	}
	arrays.Order = sparse.AsGiven(g.NumNodes)
	x := [][]float32{g.Features, g.Features}
	both := []*sparse.CSR{a.SymmetricNormalised(), a.WithSelfLoops().SymmetricNormalised()}
	for range f.hops {
		for i := range both {
			x[i] = both[i].Product(x[i], g.NumFeatures)
			f.gathered = append(f.gathered, arrays.Rows(x[i], g.NumFeatures))
		}
	}
}

// Build implements [Network]. The representation is ReLU([H_0, …, H_2K]), [n, (2K+1) d].
func (f *fsgnn) Build(b *Builder) Output {
	hops := f.mapped(b)
	share := Softmax(b.Param(Param{Name: "att", Shape: []int{len(hops)}, Value: 1}), 0)
	for i, h := range hops {
		h = Mul(unit(h), Reshape(Slice(share, AxisElem(i)), 1, 1))
		hops[i] = relu(h)
	}
	all := Concatenate(hops, 1)
	return Output{Logits: b.Linear("fc2", b.Dropout(all), b.Outputs), Representation: all}
}

// mapped has the P_i W_i^T + b_i.
func (f *fsgnn) mapped(b *Builder) []*Node {
	name := func(i int) string { return fmt.Sprintf("fc1.%d", i) }
	if f.adjacency != nil {
		return f.propagated(b, name)
	}
	out := []*Node{b.Encode(name(0), b.Config.Hidden)}
	for i, x := range f.gathered {
		out = append(out, b.Linear(name(1+i), b.Array(x), b.Config.Hidden))
	}
	return out
}

// propagated is [fsgnn.mapped] for sparse features: one product computes X W_i^T for all i but 0, with the columns in
// the order of [hopSteps].
func (f *fsgnn) propagated(b *Builder, name func(i int) string) []*Node {
	width, out := b.Config.Hidden, []*Node{b.Encode(name(0), b.Config.Hidden)}
	weights, biases := make([]*Node, 2*f.hops), make([]*Node, 2*f.hops)
	place := func(i int) int { return i%2*f.hops + i/2 }
	for i := range weights {
		weights[place(i)], biases[i] = b.linear(name(1+i), b.Features, width)
	}
	steps := hopSteps{f.hops, width}
	x := b.Encoded(Concatenate(weights, 0))
	x = solve.Scan(steps.step, x, []*Node(nil), hopArrays{loop.Constant{Node: b.Array(f.roots)}, b.Matrix(f.adjacency)},
		f.hops)
	for i, bias := range biases {
		h := Slice(x, AxisRange(), AxisRange(place(i)*width, (place(i)+1)*width))
		out = append(out, Add(h, ExpandLeftToRank(bias, 2)))
	}
	return out
}

// hopSteps multiplies the first K d columns of x, [n, 2K d], by powers of A, and the last K d by powers of Ã: group k
// of d columns, k = 1 … K, by the k-th power. Step l = 0 … K-1 multiplies all groups k > l by the matrix, and leaves
// the others.
type hopSteps struct{ hops, width int }

// hopArrays normalise the adjacency by Roots, without and with self loops.
type hopArrays struct {
	Roots     loop.Constant
	Adjacency sparse.Operator
}

// step is step l of [hopSteps].
func (h hopSteps) step(l, x *Node, _ []*Node, shared hopArrays) *Node {
	n, half := x.Shape().Dimensions[0], h.hops*h.width
	column := Iota(x.Graph(), shapes.Make(dtypes.Int32, n, 2*half), 1)
	constant := func(v int) *Node { return loop.Like(loop.Int(x.Graph(), v), column) }
	loops := GreaterOrEqual(column, constant(half))
	column = Sub(column, Where(loops, constant(half), constant(0)))
	root := func(k int) *Node {
		return BroadcastToDims(Slice(shared.Roots.Node, AxisRange(), AxisElem(k)), n, 2*half)
	}
	scale := Where(loops, root(1), root(0))
	y := Mul(scale, x)
	sum := Add(shared.Adjacency.Product(y), Where(loops, y, loop.Zeros(y)))
	moves := GreaterOrEqual(column, Mul(loop.Like(l, column), constant(h.width)))
	return Where(moves, Mul(scale, sum), x)
}
