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
	// The fields s, back and trust have one value for each place of the pattern, [places, 1]. s holds the entries s_ij
	// of S, back holds the entries of the transpose S^T, and trust holds the factors f_ij of [lrgnn]. shift, [1], is
	// the parameter that the formulas at [lrgnn] call b.
	s, back, trust, shift *Node
}

// relationships computes the numbers s_ij and f_ij of [lrgnn] for all edges, from the matrix Y. The row of Y for a
// training node is its one-hot label. The row of any other node is the softmax of its row of the argument scores,
// [n, c]. No gradient flows through s_ij and f_ij.
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

// factors computes the factors U and V of [lrgnn], [n, k] each. The argument start is the initial value of V, and x is
// the matrix X, [n, c].
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

// step computes a least-squares step of [lrgnn] for U, with V fixed, or for V, with U fixed. The result replaces the
// argument u, [n, k]: this is U in a step for U, and V in a step for V. The argument v, [n, k], is the fixed factor.
// The argument s holds the entries of S in a step for U, and of S^T in a step for V. xs, [1, c], and vs, [1, k], are
// dropout masks, which multiply the columns of x and v.
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
	// Dropout turns the matrix (1+ε) V^T V + β I of [lrgnn] into D V^T V + β I, where D = diag(1 + ε vs). This matrix
	// is not symmetric. Its inverse is (V^T V + β D^-1)^-1 D^-1, which needs only the inverse of a symmetric matrix.
	// The variable d is the diagonal of D^-1.
	d := Reciprocal(AddScalar(MulScalar(vs, r.Eps), 1))
	return Mul(Dot(right, ridgeInverse(gram, MulScalar(d, r.Beta))).Product(), d)
}
