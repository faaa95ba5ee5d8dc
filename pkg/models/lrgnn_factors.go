package models

import (
	"math"

	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/sparse"
)

// relationships is the signed graph that [lrgnn] factorises. Its arrays are values of edges, [places, 1].
type relationships struct {
	lrgnnSettings
	b       *Builder
	edges   sparse.Edges
	entries int
	// s is S, back its transpose S^T, trust f, and shift the parameter b, [1].
	s, back, trust, shift *Node
}

// relationships are the s_ij and f_ij of all edges. They are computed from Y, which has the one-hot labels of training
// nodes, and the softmax of scores, [n, c], for all other nodes. They have no gradient.
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

// factors computes U and V, [n, k], from V's initial value start and from x, [n, c].
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

// step is the least-squares step for u at fixed v, both [n, k]. xs, [1, c], and vs, [1, k], multiply the columns of x
// and v: they are the dropout masks.
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
	// With D = diag(1 + ε vs), (D V^T V + β I)^-1 is (V^T V + β D^-1)^-1 D^-1, the inverse of a symmetric matrix.
	d := Reciprocal(AddScalar(MulScalar(vs, r.Eps), 1))
	return Mul(Dot(right, ridgeInverse(gram, MulScalar(d, r.Beta))).Product(), d)
}
