package sparse

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Weighted is a [Structure] inside a graph or a loop body. Weights are vectors [places], x and g are [n, d] in the matrix's
// order. [Weighted.Product] and [Weighted.Dots] may be used in loop bodies; none of the methods has a gradient: they are what
// derivatives by hand are made of.
type Weighted struct {
	s *Structure
	o Operator
}

// On binds the structure to the nodes that hold its Tensors.
func (s *Structure) On(nodes []*Node) Weighted { return Weighted{s, s.Matrix.On(nodes)} }

// Product is Σ_j w_ij x_j, [n, d].
func (a Weighted) Product(w, x *Node) *Node {
	var parts []*Node
	at := 0
	for _, b := range a.s.first {
		parts = append(parts, a.o.sum(b, x, func(k int) *Node { return Slice(w, AxisRange(at+k*b.rows, at+(k+1)*b.rows)) }))
		at += b.terms * b.rows
	}
	return a.o.joined(parts, x)
}

// Dots are the products g_i · x_j of every place (i, j), [places]; those of padding are arbitrary.
func (a Weighted) Dots(g, x *Node) *Node {
	d := x.Shape().Dimensions[1]
	rows := a.chunked(g)
	ones := BroadcastToDims(loop.Float(x, 1), d)
	var parts []*Node
	from := 0
	for _, b := range a.s.first {
		// The sum over features is a dot product, which needs its argument in memory: some terms at a time, for the cache.
		group := max(1, cached/max(1, b.rows*d))
		for k := 0; k < b.terms; k += group {
			terms := min(group, b.terms-k)
			gathered := Gather(x, Slice(a.o.nodes[b.at], AxisRange(k, k+terms)))
			own := BroadcastToShape(Reshape(Slice(rows, AxisRange(from, from+b.rows)), 1, b.rows, d), gathered.Shape())
			parts = append(parts, Dot(Reshape(Mul(gathered, own), terms*b.rows, d), ones).Product())
		}
		from += b.rows
	}
	return concatenate(parts)
}

// cached is the number of products that Dots keeps in memory at a time.
const cached = 1 << 18

// Transpose is the vector of the weights w_ji.
func (a Weighted) Transpose(w *Node) *Node {
	return Reshape(Gather(w, a.o.nodes[a.s.mirror]), a.s.places)
}

// Diagonal is 1 where i = j, else 0.
func (a Weighted) Diagonal() *Node { return a.o.nodes[a.s.diagonal] }

// RowSum is Σ_j w_ij, [n].
func (a Weighted) RowSum(w *Node) *Node {
	n := a.s.n
	return Reshape(a.Product(w, BroadcastToDims(loop.Float(w, 1), n, 1)), n)
}

// Spread gives every place (i, j) the value of i: [n] to [places].
func (a Weighted) Spread(v *Node) *Node {
	rows := Reshape(a.chunked(Reshape(v, a.s.n, 1)), -1)
	var parts []*Node
	from := 0
	for _, b := range a.s.first {
		if b.terms > 0 {
			row := Reshape(Slice(rows, AxisRange(from, from+b.rows)), 1, b.rows)
			parts = append(parts, Reshape(BroadcastToDims(row, b.terms, b.rows), b.terms*b.rows))
		}
		from += b.rows
	}
	return concatenate(parts)
}

// Softmax normalises scores over each row: exp(e_ij - max_j e_ij) / Σ_j exp(e_ij - max_j e_ij), zero for padding. The
// largest term of every row is 1 before the division, so that neither large scores nor long rows overflow or vanish. It is
// for graphs, not for loop bodies.
func (a Weighted) Softmax(e *Node) *Node {
	lowest := BroadcastToShape(loop.Float(e, -1e30), e.Shape())
	stored := GreaterThan(a.mask(), ZerosLike(a.mask()))
	e = Where(stored, e, lowest)
	p := Exp(Sub(e, a.Spread(a.rowMax(e))))
	p = Where(stored, p, ZerosLike(p))
	return Div(p, a.Spread(a.RowSum(p)))
}

// SoftmaxPull is the cotangent of the scores for the cotangent v of p = Softmax(scores): p_ij (v_ij - Σ_k p_ik v_ik).
func (a Weighted) SoftmaxPull(p, v *Node) *Node {
	return Mul(p, Sub(v, a.Spread(a.RowSum(Mul(p, v)))))
}

// mask is 1 for entries and 0 for padding, [places].
func (a Weighted) mask() *Node {
	var parts []*Node
	for _, b := range a.s.first {
		if b.terms > 0 {
			parts = append(parts, Reshape(a.o.nodes[b.at+1], b.terms*b.rows))
		}
	}
	return concatenate(parts)
}

// rowMax is the largest of each row of e, in which padding must be lowest: [places] to [n].
func (a Weighted) rowMax(e *Node) *Node {
	var parts []*Node
	at := 0
	for _, b := range a.s.first {
		if b.terms == 0 {
			parts = append(parts, BroadcastToDims(loop.Float(e, 0), b.rows))
			continue
		}
		parts = append(parts, ReduceMax(Reshape(Slice(e, AxisRange(at, at+b.terms*b.rows)), b.terms, b.rows), 0))
		at += b.terms * b.rows
	}
	chunks := concatenate(parts)
	if len(a.s.second) == 0 {
		return chunks
	}
	var rows []*Node
	if a.s.short > 0 {
		rows = append(rows, Slice(chunks, AxisRange(0, a.s.short)))
	}
	for _, b := range a.s.second {
		each := Reshape(Gather(chunks, a.o.nodes[b.at]), b.terms, b.rows)
		stored := Reshape(a.o.nodes[b.at+1], b.terms, b.rows)
		each = Where(GreaterThan(stored, ZerosLike(stored)), each, BroadcastToShape(loop.Float(e, -1e30), each.Shape()))
		rows = append(rows, ReduceMax(each, 0))
	}
	return concatenate(rows)
}

// chunked repeats the rows of x for every chunk of a long row: as many rows as the first level has.
func (a Weighted) chunked(x *Node) *Node {
	if len(a.s.second) == 0 {
		return x
	}
	chunks := Gather(x, a.o.nodes[a.s.owner])
	if a.s.short == 0 {
		return chunks
	}
	return Concatenate([]*Node{Slice(x, AxisRange(0, a.s.short)), chunks}, 0)
}
