package sparse

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Weighted is a [Structure] inside a graph or a loop body. What belongs to places are matrices [places, heads]: weights,
// scores, products, for one head or for several, whose features lie side by side in x and g, [n, heads d], in the matrix's
// order. [Weighted.Product] and [Weighted.Dots] may be used in loop bodies; none of the methods has a gradient: they are what
// derivatives by hand are made of.
type Weighted struct {
	s *Structure
	o Operator
}

// On binds the structure to the nodes that hold its Tensors.
func (s *Structure) On(nodes []*Node) Weighted { return Weighted{s, s.Matrix.On(nodes)} }

// Product is Σ_j w_ij x_j, head by head: [n, heads d].
func (a Weighted) Product(w, x *Node) *Node {
	n, columns, heads := a.s.n, x.Shape().Dimensions[1], w.Shape().Dimensions[1]
	terms := x
	if heads > 1 {
		terms = Reshape(x, n, heads, columns/heads)
	}
	var parts []*Node
	at := 0
	for _, b := range a.s.buckets {
		sum := a.o.sum(b, terms, a.o.index(b), func(k int) *Node {
			weight := Slice(w, AxisRange(at+k*b.rows, at+(k+1)*b.rows))
			if heads > 1 {
				weight = Reshape(weight, b.rows, heads, 1)
			}
			return weight
		})
		at += b.terms * b.rows
		parts = append(parts, Reshape(sum, b.rows, columns))
	}
	return a.o.joined(parts, x)
}

// Dots are the products g_i · x_j of every place (i, j), head by head: [places, heads]. Those of padding are arbitrary.
func (a Weighted) Dots(g, x *Node, heads int) *Node {
	columns := x.Shape().Dimensions[1]
	rows := a.chunked(g)
	// A sum over each head's features, as a matrix product.
	head := func(axis, size int) *Node {
		index := Iota(x.Graph(), shapes.Make(dtypes.Int32, columns, heads), axis)
		return Div(index, loop.Like(loop.Int(x.Graph(), size), index))
	}
	sums := ConvertDType(Equal(head(0, columns/heads), head(1, 1)), x.DType())
	var parts []*Node
	from := 0
	for _, b := range a.s.buckets {
		// The product needs its argument in memory: some terms at a time, for the cache.
		group := max(1, cached/max(1, b.rows*columns))
		for k := 0; k < b.terms; k += group {
			terms := min(group, b.terms-k)
			gathered := Gather(x, Slice(a.o.nodes[b.at], AxisRange(k, k+terms)))
			own := BroadcastToShape(Reshape(Slice(rows, AxisRange(from, from+b.rows)), 1, b.rows, columns), gathered.Shape())
			parts = append(parts, Dot(Reshape(Mul(gathered, own), terms*b.rows, columns), sums).Product())
		}
		from += b.rows
	}
	return concatenate(parts)
}

// cached is the number of products that Dots keeps in memory at a time.
const cached = 1 << 18

// Transpose are the weights w_ji.
func (a Weighted) Transpose(w *Node) *Node { return Gather(w, a.o.nodes[a.s.mirror]) }

// Diagonal is 1 where i = j, else 0: [places, 1].
func (a Weighted) Diagonal() *Node { return a.o.nodes[a.s.diagonal] }

// RowSum is Σ_j w_ij, [n, heads]; weights must be zero on padding. It is for graphs, not for loop bodies.
func (a Weighted) RowSum(w *Node) *Node {
	return a.fold(w, func(v *Node) *Node { return ReduceSum(v, 0) }, 0)
}

// Spread gives every place (i, j) the value of i: [n, heads] to [places, heads].
func (a Weighted) Spread(v *Node) *Node {
	heads := v.Shape().Dimensions[1]
	rows := a.chunked(v)
	var parts []*Node
	from := 0
	for _, b := range a.s.buckets {
		if b.terms > 0 {
			row := Reshape(Slice(rows, AxisRange(from, from+b.rows)), 1, b.rows, heads)
			parts = append(parts, Reshape(BroadcastToDims(row, b.terms, b.rows, heads), b.terms*b.rows, heads))
		}
		from += b.rows
	}
	return concatenate(parts)
}

// Softmax normalises scores over each row: exp(e_ij - max_j e_ij) / Σ_j exp(e_ij - max_j e_ij), zero for padding. The
// largest term of every row is 1 before the division, so that neither large scores nor long rows overflow or vanish. It is
// for graphs, not for loop bodies.
func (a Weighted) Softmax(e *Node) *Node {
	stored := a.stored(e)
	e = Where(stored, e, BroadcastToShape(loop.Float(e, lowest), e.Shape()))
	p := Exp(Sub(e, a.Spread(a.fold(e, func(v *Node) *Node { return ReduceMax(v, 0) }, lowest))))
	p = Where(stored, p, ZerosLike(p))
	return Div(p, a.Spread(a.RowSum(p)))
}

// SoftmaxPull is the cotangent of the scores for the cotangent v of p = Softmax(scores): p_ij (v_ij - Σ_k p_ik v_ik).
func (a Weighted) SoftmaxPull(p, v *Node) *Node {
	return Mul(p, Sub(v, a.Spread(a.RowSum(Mul(p, v)))))
}

// stored tells entries from padding, of e's shape.
func (a Weighted) stored(e *Node) *Node {
	var parts []*Node
	for _, b := range a.s.buckets {
		if b.terms > 0 {
			parts = append(parts, Reshape(a.o.nodes[b.at+1], b.terms*b.rows, 1))
		}
	}
	mask := concatenate(parts)
	return BroadcastToShape(GreaterThan(mask, ZerosLike(mask)), e.Shape())
}

// fold combines the values of each row: [places, heads] to [n, heads]. Padding must be neutral.
func (a Weighted) fold(v *Node, combine func(terms *Node) *Node, neutral float64) *Node {
	heads := v.Shape().Dimensions[1]
	var parts []*Node
	at := 0
	for _, b := range a.s.buckets {
		if b.terms == 0 {
			parts = append(parts, BroadcastToDims(loop.Float(v, neutral), b.rows, heads))
			continue
		}
		parts = append(parts, combine(Reshape(Slice(v, AxisRange(at, at+b.terms*b.rows)), b.terms, b.rows, heads)))
		at += b.terms * b.rows
	}
	return a.s.assemble(parts, func(b bucket, chunks *Node) *Node {
		each := Gather(chunks, a.o.nodes[b.at])
		weight := a.o.nodes[b.at+1]
		stored := BroadcastToShape(GreaterThan(weight, ZerosLike(weight)), each.Shape())
		return combine(Where(stored, each, BroadcastToShape(loop.Float(v, neutral), each.Shape())))
	})
}

// chunked repeats the rows of x for every chunk of a long row: as many rows as the first level has.
func (a Weighted) chunked(x *Node) *Node {
	if a.s.next == nil {
		return x
	}
	chunks := Gather(x, a.o.nodes[a.s.owner])
	if a.s.short == 0 {
		return chunks
	}
	return Concatenate([]*Node{Slice(x, AxisRange(0, a.s.short)), chunks}, 0)
}
