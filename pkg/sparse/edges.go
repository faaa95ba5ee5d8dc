package sparse

import (
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/loop"
)

// Edges are the entries of A + I for attention with a number of heads: those of a graph of heads copies of every node, n heads in
// all, in which the copy k of node i, at position i heads + k, has the copies k of i's neighbours as its own. Rows of [n heads,
// d] are then [n, heads d] in memory, and programs do not grow with the number of heads.
//
// Its entries, padding included, are numbered in the order of its buckets, so that values per entry, [entries, 1], are one array:
// attention scores and weights. All operations may be used in loop bodies.
type Edges struct {
	*Matrix
	heads   int
	tensors []*tensors.Tensor
}

// weightings is the largest number of weightings in one call of [EdgeOperator.Mix].
const weightings = 2

// NewEdges lays out the entries of a graph's A + I for attention with the given number of heads.
func NewEdges(g *graphs.Graph, heads int) (*Edges, error) {
	m, err := layOut(copied(closed(g), heads))
	if err != nil {
		return nil, err
	}
	var row, node, column []int32
	var real []float32
	for p, weight := range m.places() {
		row, node, column = append(row, p.row), append(node, p.column/int32(heads)), append(column, p.column)
		real = append(real, weight)
	}
	e := &Edges{Matrix: m, heads: heads, tensors: append(slices.Clone(m.tensors), tensors.FromFlatDataAndDimensions(real, len(real), 1))}
	add := func(index []int32) {
		e.tensors = append(e.tensors, tensors.FromFlatDataAndDimensions(index, len(index), 1))
	}
	add(row)
	add(node)
	// Equal columns, one copy per weighting: XLA merges equal gathers with different users, and then computes them on their own,
	// several times slower than fused into each user.
	for range weightings {
		add(column)
	}
	return e, nil
}

// copied repeats every row once per head; see [Edges].
func copied(columns [][]int32, heads int) (rows [][]int32, weights [][]float32, layout Layout) {
	for _, list := range columns {
		for k := range heads {
			row := make([]int32, len(list))
			for i, j := range list {
				row[i] = j*int32(heads) + int32(k)
			}
			rows, weights = append(rows, row), append(weights, slices.Repeat([]float32{1}, len(list)))
		}
	}
	return rows, weights, Computed
}

// Heads is the number of heads.
func (e *Edges) Heads() int { return e.heads }

// Order is the order of the nodes; copies of a node are beside each other, as rows of one length are in the graph's order.
func (e *Edges) Order() Order {
	o := make(Order, len(e.order)/e.heads)
	for p := range o {
		o[p] = e.order[p*e.heads] / int32(e.heads)
	}
	return o
}

// Tensors are the matrix's arrays and those of the entries; see [Matrix.Tensors].
func (e *Edges) Tensors() []*tensors.Tensor { return e.tensors }

// EdgeOperator is [Edges] inside a graph or a loop body.
type EdgeOperator struct {
	Operator
	real, row, node *Node
	twins           []*Node
}

// On binds the entries to the nodes that hold [Edges.Tensors].
func (e *Edges) On(nodes []*Node) EdgeOperator {
	n := len(e.Matrix.tensors)
	return EdgeOperator{e.Matrix.On(nodes[:n]), nodes[n], nodes[n+1], nodes[n+2], nodes[n+3:]}
}

// Columns are x_j of each entry (i, j), and Rows x_i: [n heads, 1] to [entries, 1].
func (o EdgeOperator) Columns(x *Node) *Node { return Gather(x, o.twins[0]) }

// Rows are x_i of each entry (i, j).
func (o EdgeOperator) Rows(x *Node) *Node { return Gather(x, o.row) }

// Real zeroes the values of padding.
func (o EdgeOperator) Real(v *Node) *Node { return Mul(v, o.real) }

// fold combines the values of every row's entries, of which there is one at least, the node itself: [entries, 1] to [n heads, 1].
// Padding must be neutral.
func (o EdgeOperator) fold(v *Node, combine func(a, b *Node) *Node, neutral float64) *Node {
	none := func(rows int) *Node { return BroadcastToDims(loop.Float(v, neutral), rows, 1) }
	var parts []*Node
	from := 0
	for _, b := range o.m.buckets {
		parts = append(parts, combined(v, from, b, combine))
		from += b.terms * b.rows
	}
	return o.m.assemble(parts, func(b bucket, chunks *Node) *Node {
		size := b.terms * b.rows
		each := Gather(chunks, Reshape(o.nodes[b.at], size, 1))
		weight := Reshape(o.nodes[b.at+1], size, 1)
		return combined(Where(GreaterThan(weight, loop.Zeros(weight)), each, none(size)), 0, b, combine)
	})
}

// combined are a bucket's terms in v, from a row on, combined: [rows, 1].
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
	return o.fold(Where(real, v, loop.Like(loop.Float(v, lowest), v)), Max, lowest)
}

// Mix is Σ_j w_ij x_j for each of several sources x, [n heads, any] or, the same for all heads, [n, any], and as many weightings w,
// [entries, 1], which must be zero on padding; no more than two.
func (o EdgeOperator) Mix(sources, weightings []*Node) []*Node {
	out := make([]*Node, len(sources))
	for i, x := range sources {
		column := o.twins[i]
		if x.Shape().Dimensions[0] < o.m.n {
			column = o.node
		}
		out[i] = o.mix(x, weightings[i], column)
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
