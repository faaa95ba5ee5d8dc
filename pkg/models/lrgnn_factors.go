package models

import (
	"math"

	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/sparse"
)

// relationships is the signed graph S that [lrgnn] factorises: an entry s_ij for each edge says how much the labels of
// its two nodes agree.
type relationships struct {
	lrgnnSettings
	b       *Builder
	edges   sparse.Edges
	entries int
	// The fields s, back and trust have one value for each place of the pattern, [places, 1]. s holds the s_ij, back
	// holds the entries of the transpose S^T, and trust holds the f_ij. shift, [1], is the parameter b. The comment on
	// [lrgnn] explains f_ij and b.
	s, back, trust, shift *Node
}

// relationships computes the s_ij and f_ij of all edges from Y (see [lrgnn]). Y has the one-hot labels of training
// nodes, and the softmax of scores, [n, c], for all other nodes. The s_ij and f_ij have no gradient.
func (n *lrgnn) relationships(b *Builder, edges sparse.Edges, scores *Node) relationships {
	known := b.Known()
	y := Where(BroadcastToShape(isKnown(known), known.Shape()), known, Softmax(StopGradient(scores), -1))
	s := StopGradient(AddScalar(edges.Dots(y, y, 1), -n.Delta))
	sure := AddScalar(Sqrt(ReduceAndKeep(Square(y), ReduceSum, 1)), -1/float64(b.Classes))
	trust := Add(AddScalar(edges.Dots(sure, sure, 1), 0.5), Log(AddScalar(Abs(s), math.E-1)))
	r := relationships{lrgnnSettings: n.lrgnnSettings, b: b, edges: edges, entries: n.entries, s: s, back: s,
		trust: StopGradient(DivScalar(trust, 3)), shift: b.Param(Param{Name: "b", Shape: []int{1}})}
	if n.EdgeMean {
		share := Reciprocal(MaxScalar(edges.Degree(), 1))
		r.s = StopGradient(MaxScalar(Mul(s, edges.Targets(share)), -5))
		r.back = StopGradient(MaxScalar(Mul(s, edges.Sources(share)), -5))
	}
	return r
}

// factors computes the factors U and V, [n, k] each (see [lrgnn]). start is the initial value of V, and x is X, [n, c].
func (r relationships) factors(start, x *Node) (u, v *Node) {
	v = start
	keep := func(width int) *Node {
		return r.b.DropoutOf(Ones(v.Graph(), shapes.Make(v.DType(), 1, width)), r.FactorDropout)
	}
	xs, vs := keep(x.Shape().Dimensions[1]), keep(r.Rank)
	gram := Dot(Transpose(v, 0, 1), v).Product()
	u = Dot(r.edges.Product(r.s, v), ridgeInverse(gram, ConstAs(v, r.Beta))).Product()
	for i := range r.Updates {
		if i%2 == 0 {
			u = r.step(r.s, u, v, x, xs, vs)
		} else {
			v = r.step(r.back, v, u, x, xs, vs)
		}
	}
	return u, v
}

// step is the least-squares step for U at fixed V, or for V at fixed U. Its result replaces the argument u, [n, k]. The
// argument v, [n, k], is the fixed factor. s holds the entries of S, or of S^T for a step of V. xs, [1, c], and vs, [1,
// k], are dropout masks, which multiply the columns of x and v.
func (r relationships) step(s, u, v, x, xs, vs *Node) *Node {
	residual := Sub(s, r.edges.Dots(u, v, 1))
	squared := Square(StopGradient(residual))
	quartiles := r.edges.Ranked(squared, r.entries/4, 3*r.entries/4)
	low, high := Slice(quartiles, AxisRange(0, 1)), Slice(quartiles, AxisRange(1, 2))
	limit := Sub(MulScalar(high, 2.5), MulScalar(low, 1.5))
	residual = Add(residual, ExpandLeftToRank(r.shift, 2))
	residual = Where(LessThan(squared, Mul(r.trust, ExpandLeftToRank(limit, 2))), residual, ZerosLike(residual))

	gram := Dot(Transpose(v, 0, 1), v).Product()
	like := Dot(Transpose(Mul(x, xs), 0, 1), v).Product()
	right := Add(r.edges.Product(residual, v), Dot(u, gram).Product())
	right = Add(right, MulScalar(Dot(x, like).Product(), r.Eps))
	// Let D = diag(1 + ε vs). The matrix D V^T V + β I is not symmetric. Its inverse is (V^T V + β D^-1)^-1 D^-1, so
	// that only the inverse of a symmetric matrix is computed.
	d := Reciprocal(AddScalar(MulScalar(vs, r.Eps), 1))
	return Mul(Dot(right, ridgeInverse(gram, MulScalar(d, r.Beta))).Product(), d)
}
