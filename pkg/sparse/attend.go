package sparse

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Attend computes y_i = Σ_j p_ij x_j for every target i, as graph attention does. The sum is over the edges (i, j), and
// p is the softmax of the scores over the edges of target i. The scores s are [places, heads], x is [m, heads*d], and
// the result y is [n, heads*d]. y_i is 0 for a target without edges. Attend is differentiable in the scores and in x.
//
// [Edges.Softmax] followed by [Edges.Product] has the same result. Attend takes fewer passes over the edges, since it
// divides by Σ_j exp(s_ij) once for each target instead of once for each edge.
//
// Let g be the cotangent of y. For each head, the cotangent of s_ij is p_ij (g_i · x_j - g_i · y_i), and the cotangent
// of x_j is Σ_i p_ij g_i. The inner product g_i · y_i is also computed once for each target.
func (e Edges) Attend(scores, x *Node) *Node {
	b := e.bare
	b.checkPlaces("Attend", scores)
	checkRows("Attend", "x", x, b.forward().columns)
	heads := checkHeads("Attend", scores.Shape().Dimensions[1], x)
	fixed := StopGradient(x)
	finite := Max(StopGradient(scores), loop.Like(loop.Float(scores, lowest), scores))
	w := StopGradient(b.exponentials(finite))
	// total has the sum of each row's exponentials w. The largest exponential of a row is exp(0) = 1, so that the sum
	// is at least 1 for rows with entries. Therefore the maximum with 1 changes only the sums of rows without entries,
	// from 0 to 1. This avoids a division by 0.
	total := b.Sum(w)
	total = StopGradient(Max(total, loop.Like(loop.Float(total, 1), total)))
	y := StopGradient(divided(b.Product(w, fixed), total))
	return loop.Custom(y, []*Node{scores, x}, func(g *Node) []*Node {
		g = divided(g, total)
		ds := Mul(w, Sub(b.Dots(g, fixed, heads), b.Targets(rowDots(g, y, heads))))
		return []*Node{ds, b.TransposedProduct(b.Transpose(w), g)}
	})
}

// exponentials are exp(s_ij - t_i) for scores s, where t_i is the largest score of row i. They are 0 for padding. The
// scores and the result are [places, k]. The computation goes bucket by bucket. Within a bucket, t_i is broadcast to
// the places of row i, so that it need not be gathered for each place.
func (e BareEdges) exponentials(scores *Node) *Node {
	f := e.forward()
	top := f.chunked(f.fold(f.masked(scores, lowest), Max, lowest))
	width := scores.Shape().Dimensions[1]
	var parts []*Node
	from := 0
	for _, b := range f.buckets {
		if b.terms > 0 {
			s := b.block(scores)
			stored := GreaterThan(b.block(f.array(weight)), loop.Zeros(b.block(f.array(weight))))
			own := Reshape(Slice(top, AxisRange(from, from+b.rows)), 1, b.rows, width)
			p := Exp(Sub(s, BroadcastToShape(own, s.Shape())))
			p = Where(BroadcastToShape(stored, p.Shape()), p, loop.Zeros(p))
			parts = append(parts, Reshape(p, b.terms*b.rows, width))
		}
		from += b.rows
	}
	return concatenate(parts)
}

// block returns the values of v at the bucket's places. v is [places, k]. The result is [terms, rows, k], where terms
// and rows are the fields of the bucket.
func (b bucket) block(v *Node) *Node {
	return Reshape(Slice(v, AxisRange(b.from, b.from+b.terms*b.rows)), b.terms, b.rows, v.Shape().Dimensions[1])
}

// divided divides the rows of a matrix [n, heads*d], whose columns are head by head. The argument divisors, [n, heads],
// has a number for each row and head. In each row, the d columns of a head are divided by this number.
func divided(rows, divisors *Node) *Node {
	each := headed(rows, divisors.Shape().Dimensions[1])
	return Reshape(Div(each, BroadcastToShape(InsertAxes(divisors, -1), each.Shape())), rows.Shape().Dimensions...)
}

// rowDots are inner products of each row of a with the same row of b: one for each head, over the columns of this head.
// a and b are [n, heads*d], with their columns head by head, and the result is [n, heads].
func rowDots(a, b *Node, heads int) *Node { return ReduceSum(headed(Mul(a, b), heads), -1) }

// headed reshapes rows, whose columns are head by head, from [n, heads*d] to [n, heads, d].
func headed(rows *Node, heads int) *Node {
	return Reshape(rows, rows.Shape().Dimensions[0], heads, rows.Shape().Dimensions[1]/heads)
}
