package sparse

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/gradient"
	"github.com/revgnn/revgnn/pkg/loop"
)

// Attend is y_i = Σ_j p_ij x_j over the edges of every target i, where p is the softmax of the scores s. s is [places,
// heads], and x, [m, heads*d], has its columns head by head. The result y is [n, heads*d], and 0 for nodes without
// edges. Attend is differentiable in the scores and in x.
//
// The result equals that of [Edges.Product] with the weights of [Edges.Softmax], but Attend needs fewer passes over the
// edges. Two things are computed once for each node instead of once for each edge: the division by Σ_j exp(s_ij), and
// the inner product g_i · y_i below. Let g be the cotangent of y. The cotangents of s_ij and of x_j are
//
//	p_ij (g_i · x_j - g_i · y_i)  and  Σ_i p_ij g_i.
func (e Edges) Attend(scores, x *Node) *Node {
	b := e.bare
	b.checkPlaces("Attend", scores)
	checkRows("Attend", "x", x, b.forward.columns)
	heads := checkHeads("Attend", scores.Shape().Dimensions[1], x)
	fixed := StopGradient(x)
	finite := Max(StopGradient(scores), loop.Like(loop.Float(scores, lowest), scores))
	w := StopGradient(b.exponentials(finite))
	// The total is the sum of the weights w of a row. It is at least 1 if the row has entries, since the largest w is
	// then 1. So the maximum with 1 changes only the totals of rows without entries, from 0 to 1. This avoids a
	// division by 0.
	total := b.Sum(w)
	total = StopGradient(Max(total, loop.Like(loop.Float(total, 1), total)))
	y := StopGradient(divided(b.Product(w, fixed), total))
	return gradient.Custom(y, []*Node{scores, x}, func(g *Node) []*Node {
		g = divided(g, total)
		ds := Mul(w, Sub(b.Dots(g, fixed, heads), b.Targets(rowDots(g, y, heads))))
		return []*Node{ds, b.TransposedProduct(b.Transpose(w), g)}
	})
}

// exponentials are exp(s_ij - max_j s_ij) for scores s, [places, k], and 0 for padding. They are computed bucket by
// bucket. Within a bucket, the largest score of each row is broadcast to the row's places. So no gather of the largest
// scores is needed.
func (e BareEdges) exponentials(scores *Node) *Node {
	f := e.forward
	top := f.chunked(f.fold(f.masked(scores, lowest), Max, lowest))
	width := scores.Shape().Dimensions[1]
	var parts []*Node
	from := 0
	for _, b := range f.buckets {
		if b.terms > 0 {
			s := b.block(scores)
			stored := GreaterThan(b.block(f.arrays[weight]), loop.Zeros(b.block(f.arrays[weight])))
			own := Reshape(Slice(top, AxisRange(from, from+b.rows)), 1, b.rows, width)
			p := Exp(Sub(s, BroadcastToShape(own, s.Shape())))
			p = Where(BroadcastToShape(stored, p.Shape()), p, loop.Zeros(p))
			parts = append(parts, Reshape(p, b.terms*b.rows, width))
		}
		from += b.rows
	}
	return concatenate(parts)
}

// block returns the values of v at the bucket's places. v is [places, k], and the result is [terms, rows, k].
func (b bucket) block(v *Node) *Node {
	return Reshape(Slice(v, AxisRange(b.from, b.from+b.terms*b.rows)), b.terms, b.rows, v.Shape().Dimensions[1])
}

// divided returns quotients. The first argument holds the dividends, [n, heads*d], with their columns head by head. The
// second holds the divisors, [n, heads]: one for each row and head.
func divided(rows, by *Node) *Node {
	each := headed(rows, by.Shape().Dimensions[1])
	return Reshape(Div(each, BroadcastToShape(InsertAxes(by, -1), each.Shape())), rows.Shape().Dimensions...)
}

// rowDots are the inner products of each row of a with the same row of b, for each head. a and b are [n, heads*d], and
// the result is [n, heads].
func rowDots(a, b *Node, heads int) *Node { return ReduceSum(headed(Mul(a, b), heads), -1) }

// headed reshapes rows, whose columns are head by head, from [n, heads*d] to [n, heads, d].
func headed(rows *Node, heads int) *Node {
	return Reshape(rows, rows.Shape().Dimensions[0], heads, rows.Shape().Dimensions[1]/heads)
}
