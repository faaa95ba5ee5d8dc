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
		Own: OwnSettings(fsgnnSettings{Hops: 3}, func(s *fsgnnSettings) []Setting {
			return []Setting{{Name: "hops", Value: &s.Hops, Least: 1, Most: 64,
				Help: "hops that features are gathered from"}}
		}),
		Defaults: func(c *Config) { c.Hidden, c.Dropout = 64, 0.5 },
		Depth:    func(c Config) string { return fmt.Sprint(OwnOf[fsgnnSettings](c).Hops) },
		New:      func(c Config) Network { return &fsgnn{hops: OwnOf[fsgnnSettings](c).Hops} }})
}

// fsgnnSettings are the settings that FSGNN has besides the shared settings: the number of hops K.
type fsgnnSettings struct{ Hops int }

// fsgnn is FSGNN (Maurya, Liu and Murata, "Simplifying approach to node classification in graph neural networks",
// Journal of Computational Science 2022), with the parameters' names of the authors' code,
// https://github.com/sunilkmaurya/FSGNN:
//
//	P      = X, A X, Ã X, A² X, Ã² X, …, A^K X, Ã^K X       2K+1 times [n, m]
//	H_i    = softmax(a)_i norm(P_i W_i^T + b_i)             [n, d], for each of them
//	logits = dropout(ReLU([H_0, …, H_2K])) W^T + b          of [n, (2K+1) d]
//
// A and Ã, [n, n], are the adjacency without and with self loops, symmetrically normalised. norm divides each row by
// its Euclidean length ("hop-normalisation"). a, [2K+1], starts at ones. The published settings are K = 3 ("3-hop", the
// default here and in the code), 8, 16 and 32, d = 64, dropout 0.5 to 0.7, and separate learning rates and weight
// decays for a, the W_i and W. Here all have one learning rate and one weight decay. The code also divides the rows of
// the features by their sums. Here features are as the dataset has them.
//
// Dense features (see [Sparse]) are propagated once, when the graph is prepared. This stores 2K more dense arrays, [n,
// m]. For sparse features, such as Cora's 1433 words, these arrays would be too large. As A^k X W = A^k (X W), sparse
// features are first multiplied by W, and then rows of width d are propagated in every step, by [hopSteps].
type fsgnn struct {
	hops      int
	adjacency *sparse.Matrix // A without normalisation, for sparse features
}

// Prepare propagates dense features, or lays out the adjacency that propagates sparse ones.
func (f *fsgnn) Prepare(g *graphs.Graph) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	a := sparse.Adjacency(g)
	if _, yes := Sparse(g); yes {
		if f.adjacency, err = sparse.NewMatrix(a, nil); err != nil {
			return nil, nil, err
		}
		order = f.adjacency.Order()
		roots := sparse.Permute(order, roots(a.Degrees()), 2)
		arrays = append(arrays, tensors.FromFlatDataAndDimensions(roots, g.NumNodes, 2))
		return order, append(arrays, f.adjacency.Tensors()...), nil
	}
	x := [][]float32{g.Features, g.Features}
	both := []*sparse.CSR{a.SymmetricNormalised(), a.WithSelfLoops().SymmetricNormalised()}
	for range f.hops {
		for i := range both {
			x[i] = both[i].Product(x[i], g.NumFeatures)
			arrays = append(arrays, tensors.FromFlatDataAndDimensions(x[i], g.NumNodes, g.NumFeatures))
		}
	}
	return sparse.AsGiven(g.NumNodes), arrays, nil
}

// roots lists 1/sqrt(d) (0 for d = 0) and 1/sqrt(d+1) for each degree d.
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

// Build is the network; its representation is the concatenation that the last linear map reads, before dropout.
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

// mapped are P_i W_i^T + b_i.
func (f *fsgnn) mapped(b *Builder) []*Node {
	name := func(i int) string { return fmt.Sprintf("fc1.%d", i) }
	if f.adjacency != nil {
		return f.propagated(b, name)
	}
	out := []*Node{b.Encode(name(0), b.Config.Hidden)}
	for i, x := range b.Arrays {
		out = append(out, b.Linear(name(1+i), x, b.Config.Hidden))
	}
	return out
}

// propagated is [fsgnn.mapped] for sparse features. One product computes all maps but the first, in the order A X, …,
// A^K X, Ã X, …, Ã^K X.
func (f *fsgnn) propagated(b *Builder, name func(i int) string) []*Node {
	width, out := b.Config.Hidden, []*Node{b.Encode(name(0), b.Config.Hidden)}
	weights, biases := make([]*Node, 2*f.hops), make([]*Node, 2*f.hops)
	place := func(i int) int { return i%2*f.hops + i/2 }
	for i := range weights {
		weights[place(i)], biases[i] = b.linear(name(1+i), b.Features, width)
	}
	steps := hopSteps{f.adjacency, f.hops, width}
	x := b.Encoded(Concatenate(weights, 0))
	x = solve.ScanVJP(steps.step, steps.pull, x, nil, forScan(b.Arrays), f.hops)
	for i, bias := range biases {
		h := Slice(x, AxisRange(), AxisRange(place(i)*width, (place(i)+1)*width))
		out = append(out, Add(h, ExpandLeftToRank(bias, 2)))
	}
	return out
}

// hopSteps propagates rows of 2K d columns: the first K d columns by A, and the others by Ã. Each half has K blocks of
// d columns, and block k = 1 … K must be multiplied k times. Step l = 0 … K-1 of the scan therefore multiplies all
// columns of each half but the first l d. All steps read [roots], [n, 2], and the arrays of the adjacency without
// normalisation, whose weights are all 1.
type hopSteps struct {
	adjacency   *sparse.Matrix
	hops, width int
}

func (h hopSteps) step(l, x *Node, _, shared []*Node) *Node {
	n, half := x.Shape().Dimensions[0], h.hops*h.width
	column := Iota(x.Graph(), shapes.Make(dtypes.Int32, n, 2*half), 1)
	constant := func(v int) *Node { return loop.Like(loop.Int(x.Graph(), v), column) }
	loops := GreaterOrEqual(column, constant(half))
	column = Sub(column, Where(loops, constant(half), constant(0)))
	root := func(k int) *Node { return BroadcastToDims(Slice(shared[0], AxisRange(), AxisElem(k)), n, 2*half) }
	scale := Where(loops, root(1), root(0))
	y := Mul(scale, x)
	sum := Add(h.adjacency.Bare(shared[1:]).Product(y), Where(loops, y, loop.Zeros(y)))
	moves := GreaterOrEqual(column, Mul(loop.Like(l, column), constant(h.width)))
	return Where(moves, Mul(scale, sum), x)
}

// pull propagates the cotangent v in the same way, since the matrices are symmetric.
func (h hopSteps) pull(l, _, v *Node, _, shared []*Node) (dx *Node, dOwn, dShared []*Node) {
	dShared = make([]*Node, len(shared))
	dShared[0] = loop.Zeros(shared[0])
	return h.step(l, v, nil, shared), nil, dShared
}
