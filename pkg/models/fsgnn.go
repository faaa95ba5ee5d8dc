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
	Register(Kind{Name: "fsgnn", Title: "FSGNN",
		Layer:     "softmax(a)_i normalised rows of (P_i W_i + b_i), P_i one of X, A^k X and Ã^k X",
		Reference: "Maurya et al., Journal of Computational Science 2022",
		Shared:    []string{"hidden", "dropout"},
		Own:       fsgnnSettings{Hops: 3},
		Defaults:  func(c *Config) { c.Hidden, c.Dropout = 64, 0.5 },
		Depth:     func(c Config) string { return fmt.Sprint(OwnOf[fsgnnSettings](c).Hops) },
		New:       func(c Config) Network { return &fsgnn{hops: OwnOf[fsgnnSettings](c).Hops} }})
}

// fsgnnSettings are FSGNN's own settings: the number of hops K.
type fsgnnSettings struct {
	Hops int `help:"hops that features are gathered from" least:"1" most:"64"`
}

// fsgnn is FSGNN (Maurya, Liu and Murata, "Simplifying approach to node classification in graph neural networks",
// Journal of Computational Science 2022). The parameters have the names of the authors' code,
// https://github.com/sunilkmaurya/FSGNN. The network is not a sequence of layers: it reads the node features X and 2K
// propagated copies of X side by side. K is the number of hops.
//
//	P      = X, A X, Ã X, A² X, Ã² X, …, A^K X, Ã^K X       P_0 … P_2K, [n, m] each
//	H_i    = softmax(a)_i norm(P_i W_i^T + b_i)             [n, d], for each P_i
//	logits = dropout(ReLU([H_0, …, H_2K])) W^T + b          [H_0, …, H_2K] is [n, (2K+1) d]
//
// A, [n, n], is the symmetrically normalised adjacency without self loops. Ã is the symmetrically normalised adjacency
// with self loops. The function norm divides each row by its Euclidean length ("hop-normalisation"). The vector a,
// [2K+1], is trained, and all its entries start at 1.
//
// The default K is 3, as in the code. The publication has K = 3 ("3-hop"), 8, 16 and 32. It has d = 64, and dropout
// from 0.5 to 0.7. It has separate learning rates and weight decays for a, for the W_i and for W. Here all parameters
// have the same learning rate and weight decay. The code also divides the rows of the features by their sums, which
// this network does not do.
//
// Dense node features (see [Sparse]) are propagated once, by Prepare, which stores 2K arrays of their size. For sparse
// features, such as the 1433 words of Cora, these arrays would be too large. The network therefore multiplies sparse
// features by the W_i first. The products have only d columns each, and [hopSteps] propagates them in every training
// step.
type fsgnn struct {
	hops      int
	adjacency *sparse.Matrix    // the adjacency without normalisation; nil for dense features
	roots     *tensors.Tensor   // for sparse features: see [roots]
	gathered  []*tensors.Tensor // for dense features: A^k X and Ã^k X for k = 1, 2, …
}

// Prepare implements [Network]. If the node features are dense, it propagates them. If they are sparse, it makes the
// sparse matrix of the adjacency, and an array of the numbers with which [hopSteps] normalises the adjacency (see
// [roots]).
func (f *fsgnn) Prepare(g *graphs.Graph) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	a := sparse.Adjacency(g)
	if _, yes := Sparse(g); yes {
		if f.adjacency, err = sparse.NewMatrix(a, nil); err != nil {
			return nil, nil, err
		}
		order = f.adjacency.Order()
		roots := sparse.Permute(order, roots(a.Degrees()), 2)
		f.roots = tensors.FromFlatDataAndDimensions(roots, g.NumNodes, 2)
		return order, append([]*tensors.Tensor{f.roots}, f.adjacency.Tensors()...), nil
	}
	x := [][]float32{g.Features, g.Features}
	both := []*sparse.CSR{a.SymmetricNormalised(), a.WithSelfLoops().SymmetricNormalised()}
	for range f.hops {
		for i := range both {
			x[i] = both[i].Product(x[i], g.NumFeatures)
			f.gathered = append(f.gathered, tensors.FromFlatDataAndDimensions(x[i], g.NumNodes, g.NumFeatures))
		}
	}
	return sparse.AsGiven(g.NumNodes), f.gathered, nil
}

// roots returns two numbers for each degree d, with which [hopSteps] normalises the adjacency. The first number,
// 1/sqrt(d), is for the adjacency without self loops. (It is 0 for d = 0.) The second number, 1/sqrt(d+1), is for the
// adjacency with self loops.
func roots(degrees []int) (out []float32) {
	for _, d := range degrees {
		without := 0.0
		if d > 0 {
			without = 1 / math.Sqrt(float64(d))
		}
		out = append(out, float32(without), float32(1/math.Sqrt(float64(d+1))))
	}
	return out
}

// Build implements [Network] by the formula at [fsgnn]. The representation is ReLU([H_0, …, H_2K]), [n, (2K+1) d],
// without dropout.
func (f *fsgnn) Build(b *Builder) Output {
	hops := f.mapped(b)
	share := Softmax(b.Param(Param{Name: "att", Shape: []int{len(hops)}, Value: 1}), 0)
	for i, h := range hops {
		h = Mul(unit(h), Reshape(Slice(share, AxisElem(i)), 1, 1))
		hops[i] = Max(h, ZerosLike(h))
	}
	all := Concatenate(hops, 1)
	return Output{Logits: b.Linear("fc2", b.Dropout(all), b.Outputs), Representation: all}
}

// mapped returns the arrays P_i W_i^T + b_i of [fsgnn].
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

// propagated is [fsgnn.mapped] for sparse node features X. First, one product computes X W_i^T for all i but 0. Then
// [hopSteps] propagates the columns of this product. The columns are in the order that hopSteps needs: first the
// columns for the powers of A, and then those for the powers of Ã.
func (f *fsgnn) propagated(b *Builder, name func(i int) string) []*Node {
	width, out := b.Config.Hidden, []*Node{b.Encode(name(0), b.Config.Hidden)}
	weights, biases := make([]*Node, 2*f.hops), make([]*Node, 2*f.hops)
	place := func(i int) int { return i%2*f.hops + i/2 }
	for i := range weights {
		weights[place(i)], biases[i] = b.linear(name(1+i), b.Features, width)
	}
	steps := hopSteps{f.hops, width}
	x := b.Encoded(Concatenate(weights, 0))
	x = solve.ScanVJP(steps.step, steps.pull, x, nil,
		hopArrays{loop.Constant{Node: b.Array(f.roots)}, b.Matrix(f.adjacency)}, f.hops)
	for i, bias := range biases {
		h := Slice(x, AxisRange(), AxisRange(place(i)*width, (place(i)+1)*width))
		out = append(out, Add(h, ExpandLeftToRank(bias, 2)))
	}
	return out
}

// hopSteps multiplies the columns of an array x, [n, 2K d], by powers of the matrices A and Ã (see [fsgnn]). The first
// K d columns are multiplied by powers of A, and the last K d columns by powers of Ã. Each of these halves consists of
// K groups of d columns. Group k of a half, where k is from 1 to K, has to be multiplied by the k-th power of the
// matrix (A or Ã). This takes K steps. Step l, where l is from 0 to K-1, multiplies all groups with k > l by the
// matrix, and does not change the groups with k <= l.
//
// The argument shared of step holds the result of the function roots, [n, 2], and the arrays of the adjacency without
// normalisation. The method step normalises the adjacency by the numbers from roots.
type hopSteps struct{ hops, width int }

// hopArrays are the arrays that the steps read: the roots, and the adjacency.
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

// pull is the vector-Jacobian product of step. It is step itself, applied to the cotangent v, since A and Ã are
// symmetric.
func (h hopSteps) pull(l, _, v *Node, _ []*Node, shared hopArrays) (*Node, []*Node, hopArrays) {
	return h.step(l, v, nil, shared), nil, hopArrays{}
}
