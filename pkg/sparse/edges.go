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
	first   int // entries
	tensors []*tensors.Tensor
}

// NewEdges numbers the entries of m.
func NewEdges(m *Matrix) *Edges {
	var column, row []int32
	var real []float32
	from := 0
	for _, b := range m.first {
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
	e := &Edges{Matrix: m, first: len(column)}
	e.tensors = append(append(e.tensors, m.tensors...), tensors.FromFlatDataAndDimensions(column, len(column), 1),
		tensors.FromFlatDataAndDimensions(row, len(row), 1), tensors.FromFlatDataAndDimensions(real, len(real), 1))
	return e
}

// Tensors are the matrix's arrays and those of the entries; see [Matrix.Tensors].
func (e *Edges) Tensors() []*tensors.Tensor { return e.tensors }

// EdgeOperator is [Edges] inside a graph or a loop body.
type EdgeOperator struct {
	Operator
	column, row, real *Node
}

// On binds the entries to the nodes that hold [Edges.Tensors].
func (e *Edges) On(nodes []*Node) EdgeOperator {
	n := len(nodes)
	return EdgeOperator{e.Matrix.On(nodes[:n-3]), nodes[n-3], nodes[n-2], nodes[n-1]}
}

// Columns are x_j of each entry (i, j), and Rows x_i: [n, heads] to [entries, heads].
func (o EdgeOperator) Columns(x *Node) *Node { return Gather(x, o.column) }

// Rows are x_i of each entry (i, j).
func (o EdgeOperator) Rows(x *Node) *Node { return Gather(x, o.row) }

// Real zeroes the values of padding.
func (o EdgeOperator) Real(v *Node) *Node {
	return Mul(v, BroadcastToShape(o.real, v.Shape()))
}

// fold combines the values of every row's entries: [entries, heads] to [n, heads]. Padding must be neutral.
func (o EdgeOperator) fold(v *Node, combine func(a, b *Node) *Node, neutral float64) *Node {
	heads := v.Shape().Dimensions[1]
	var parts []*Node
	from := 0
	for _, b := range o.m.first {
		var all *Node
		for range b.terms {
			term := Slice(v, AxisRange(from, from+b.rows))
			from += b.rows
			if all == nil {
				all = term
			} else {
				all = combine(all, term)
			}
		}
		if all == nil {
			all = BroadcastToDims(loop.Float(v, neutral), b.rows, heads)
		}
		parts = append(parts, all)
	}
	rows := concatenate(parts)
	if len(o.m.second) == 0 {
		return rows
	}
	var long []*Node
	if o.m.short > 0 {
		long = []*Node{Slice(rows, AxisRange(0, o.m.short))}
	}
	for _, b := range o.m.second {
		var all *Node
		for k := range b.terms {
			index := Reshape(Slice(o.nodes[b.at], AxisElem(k)), b.rows, 1)
			real := GreaterThan(Slice(o.nodes[b.at+1], AxisElem(k)), BroadcastToDims(loop.Float(v, 0), 1, b.rows, 1))
			term := Gather(rows, index)
			term = Where(BroadcastToDims(Reshape(real, b.rows, 1), b.rows, heads), term, loop.Like(loop.Float(v, neutral), term))
			if all == nil {
				all = term
			} else {
				all = combine(all, term)
			}
		}
		long = append(long, all)
	}
	return concatenate(long)
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

// Aggregate is y_i = Σ_j w_ij x_j for weights per entry and head, [entries, heads], which must be zero on padding, and x of
// shape [n, heads, d], or [n, 1, d] where all heads share it: [n, heads, d].
func (o EdgeOperator) Aggregate(w, x *Node) *Node {
	heads, d := w.Shape().Dimensions[1], x.Shape().Dimensions[2]
	var parts []*Node
	from := 0
	for _, b := range o.m.first {
		var sum *Node
		for k := range b.terms {
			index := Reshape(Slice(o.nodes[b.at], AxisElem(k)), b.rows, 1)
			term := Gather(x, index)
			if x.Shape().Dimensions[1] != heads {
				term = BroadcastToDims(term, b.rows, heads, d)
			}
			weight := Reshape(Slice(w, AxisRange(from, from+b.rows)), b.rows, heads, 1)
			from += b.rows
			term = Mul(term, BroadcastToDims(weight, b.rows, heads, d))
			if sum == nil {
				sum = term
			} else {
				sum = Add(sum, term)
			}
		}
		if sum == nil {
			sum = BroadcastToDims(loop.Float(x, 0), b.rows, heads, d)
		}
		parts = append(parts, Reshape(sum, b.rows, heads*d))
	}
	sums := concatenate(parts)
	if len(o.m.second) > 0 {
		long := o.level(o.m.second, sums)
		if o.m.short > 0 {
			long = append([]*Node{Slice(sums, AxisRange(0, o.m.short))}, long...)
		}
		sums = concatenate(long)
	}
	return Reshape(sums, o.m.n, heads, d)
}
