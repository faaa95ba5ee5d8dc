package sparse

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/gradient"
	"github.com/revgnn/revgnn/pkg/loop"
)

// Attend is Σ_j p_ij x_j over the edges of every target i, where p is the softmax of the scores s, [places, heads],
// and x, [m, heads d], has its columns head by head. The result is [n, heads d], 0 for nodes without edges. It equals
// [Edges.Product] of [Edges.Softmax] and is differentiable in both arguments, but takes fewer passes over edges: the
// division by Σ_j exp(s_ij), and the term that the softmax's derivative subtracts, are computed once per node. With g
// the cotangent of the result y, the cotangents of scores and x are
// scores and x are
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
	// Every row with entries has a largest term of 1, so that this only changes rows without entries.
	total := b.Sum(w)
	total = StopGradient(Max(total, loop.Like(loop.Float(total, 1), total)))
	y := StopGradient(divided(b.Product(w, fixed), total))
	return gradient.Custom(y, []*Node{scores, x}, func(g *Node) []*Node {
		g = divided(g, total)
		ds := Mul(w, Sub(b.Dots(g, fixed, heads), b.Targets(rowDots(g, y, heads))))
		return []*Node{ds, b.TransposedProduct(b.Transpose(w), g)}
	})
}

// exponentials are exp(s_ij - max_j s_ij), [places, k], 0 for padding. They are computed bucket by bucket, so that a
// row's largest score is read where it is, and not gathered for each entry.
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

// block selects the values of a bucket's places, [terms, rows, k].
func (b bucket) block(v *Node) *Node {
	return Reshape(Slice(v, AxisRange(b.from, b.from+b.terms*b.rows)), b.terms, b.rows, v.Shape().Dimensions[1])
}

// divided divides rows, [n, heads d], by one number per head, [n, heads].
func divided(rows, by *Node) *Node {
	each := headed(rows, by.Shape().Dimensions[1])
	return Reshape(Div(each, BroadcastToShape(InsertAxes(by, -1), each.Shape())), rows.Shape().Dimensions...)
}

// rowDots are the inner products of rows, [n, heads d], head by head: [n, heads].
func rowDots(a, b *Node, heads int) *Node { return ReduceSum(headed(Mul(a, b), heads), -1) }

// headed reshapes rows, whose columns are head by head, to [n, heads, d].
func headed(rows *Node, heads int) *Node {
	return Reshape(rows, rows.Shape().Dimensions[0], heads, rows.Shape().Dimensions[1]/heads)
}
