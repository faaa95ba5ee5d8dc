package sparse

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Edges numbers a matrix's entries, padding included, in the order of its buckets, so that values per entry, [entries,
// heads], are one array: attention scores and weights. All operations may be used in loop bodies.
type Edges struct {
	*Matrix
	tensors []*tensors.Tensor
}

// weightings is the largest number of weightings per head in one call of [EdgeOperator.Mix].
const weightings = 2

// NewEdges numbers the entries of m, for attention with the given number of heads.
func NewEdges(m *Matrix, heads int) *Edges {
	var column, row []int32
	var real []float32
	from := 0
	for _, b := range m.buckets {
		if b.terms > 0 {
			column = append(column, tensors.MustCopyFlatData[int32](m.tensors[b.at])...)
			for _, w := range tensors.MustCopyFlatData[float32](m.tensors[b.at+1]) {
				if w != 0 {
					w = 1
				}
				real = append(real, w)
			}
			for range b.terms {
				for r := from; r < from+b.rows; r++ {
					position := int32(r)
					if r >= m.short {
						position = m.owner[r-m.short]
					}
					row = append(row, position)
				}
			}
		}
		from += b.rows
	}
	e := &Edges{Matrix: m}
	e.tensors = append(append(e.tensors, m.tensors...), tensors.FromFlatDataAndDimensions(row, len(row), 1), tensors.FromFlatDataAndDimensions(real, len(real), 1))
	// Equal columns, one copy per weighting and head: XLA merges equal gathers with different users, and then computes
	// them on their own, several times slower than fused into each user.
	for range weightings * heads {
		e.tensors = append(e.tensors, tensors.FromFlatDataAndDimensions(column, len(column), 1))
	}
	return e
}

// Tensors are the matrix's arrays and those of the entries; see [Matrix.Tensors].
func (e *Edges) Tensors() []*tensors.Tensor { return e.tensors }

// EdgeOperator is [Edges] inside a graph or a loop body.
type EdgeOperator struct {
	Operator
	row, real *Node
	twins     []*Node
}

// On binds the entries to the nodes that hold [Edges.Tensors].
func (e *Edges) On(nodes []*Node) EdgeOperator {
	n := len(e.Matrix.tensors)
	return EdgeOperator{e.Matrix.On(nodes[:n]), nodes[n], nodes[n+1], nodes[n+2:]}
}

// Columns are x_j of each entry (i, j), and Rows x_i: [n, heads] to [entries, heads].
func (o EdgeOperator) Columns(x *Node) *Node { return Gather(x, o.twins[0]) }

// Rows are x_i of each entry (i, j).
func (o EdgeOperator) Rows(x *Node) *Node { return Gather(x, o.row) }

// Real zeroes the values of padding.
func (o EdgeOperator) Real(v *Node) *Node {
	return Mul(v, BroadcastToShape(o.real, v.Shape()))
}

// fold combines the values of every row's entries: [entries, heads] to [n, heads]. Padding must be neutral.
func (o EdgeOperator) fold(v *Node, combine func(a, b *Node) *Node, neutral float64) *Node {
	heads := v.Shape().Dimensions[1]
	none := func(rows int) *Node { return BroadcastToDims(loop.Float(v, neutral), rows, heads) }
	var parts []*Node
	from := 0
	for _, b := range o.m.buckets {
		if b.terms == 0 {
			parts = append(parts, none(b.rows))
			continue
		}
		parts = append(parts, combined(v, from, b, combine))
		from += b.terms * b.rows
	}
	return o.m.assemble(parts, func(b bucket, chunks *Node) *Node {
		size := b.terms * b.rows
		each := Gather(chunks, Reshape(o.nodes[b.at], size, 1))
		weight := Reshape(o.nodes[b.at+1], size, 1)
		real := GreaterThan(weight, loop.Zeros(weight))
		return combined(Where(BroadcastToDims(real, size, heads), each, none(size)), 0, b, combine)
	})
}

// combined are a bucket's terms in v, from a row on, combined: [rows, heads].
func combined(v *Node, from int, b bucket, combine func(a, b *Node) *Node) *Node {
	all := Slice(v, AxisRange(from, from+b.rows))
	for k := 1; k < b.terms; k++ {
		all = combine(all, Slice(v, AxisRange(from+k*b.rows, from+(k+1)*b.rows)))
	}
	return all
}

// SumRows adds the values of every row's entries, padding included.
func (o EdgeOperator) SumRows(v *Node) *Node { return o.fold(v, Add, 0) }

// lowest stands for minus infinity, whose differences are not numbers.
const lowest = -1e30

// MaxRows is the largest value of every row's entries, padding excluded.
func (o EdgeOperator) MaxRows(v *Node) *Node {
	real := GreaterThan(o.real, loop.Zeros(o.real))
	v = Where(BroadcastToShape(real, v.Shape()), v, loop.Like(loop.Float(v, lowest), v))
	return o.fold(v, Max, lowest)
}

// Mix is Σ_j w_ij x_j for each of several sources x, [n, any], and as many weightings w, [entries, 1], which must be zero on
// padding. No more than twice as many as there are heads.
func (o EdgeOperator) Mix(sources, weightings []*Node) []*Node {
	out := make([]*Node, len(sources))
	for i, x := range sources {
		out[i] = o.mix(x, weightings[i], o.twins[i])
	}
	return out
}

// mix is the sum for one weighting, with the columns read from one of their copies.
func (o EdgeOperator) mix(x, w, column *Node) *Node {
	var parts []*Node
	from := 0
	for _, b := range o.m.buckets {
		terms := func(v *Node) func(k int) *Node {
			first := from
			return func(k int) *Node { return Slice(v, AxisRange(first+k*b.rows, first+(k+1)*b.rows)) }
		}
		parts = append(parts, o.sum(b, x, terms(column), terms(w)))
		from += b.terms * b.rows
	}
	return o.joined(parts, x)
}
