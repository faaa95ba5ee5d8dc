package sparse

import (
	"fmt"
	"slices"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
)

// Matrix is a sparse matrix A, [n, m], whose weights are known beforehand, laid out for products with dense matrices:
// see [Matrix.On]. Unless A is symmetric its transpose is laid out as well, for derivatives.
type Matrix struct {
	rows     Order
	forward  *laid
	backward *laid // forward itself if A is symmetric
	entries  int
}

// laid is a layout for products whose results are in an order.
type laid struct {
	*sliced
	arrays
}

// NewMatrix lays out a square matrix. The rows of its products, and of the matrices that it multiplies, are in the
// given order. A nil order stands for the order by row length, [Matrix.Order], in which products need not reorder
// their results. The matrices of one model must share one order.
func NewMatrix(a *CSR, order Order) (*Matrix, error) {
	if a.Rows != a.Columns {
		return nil, fmt.Errorf("sparse matrix: %d x %d, but an adjacency within a graph is square: see NewRectangular",
			a.Rows, a.Columns)
	}
	if err := a.Validate(); err != nil {
		return nil, err
	}
	if order == nil {
		order = a.byLength(AsGiven(a.Rows))
	}
	return newMatrix(a, order, order, Constant)
}

// NewRectangular lays out a matrix between two sets, [n, m], such as users and what they bought, or nodes and their
// mostly zero features. Products take rows in the order columns and give rows in the order rows; nil stands for
// [AsGiven].
func NewRectangular(a *CSR, rows, columns Order) (*Matrix, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	if rows == nil {
		rows = AsGiven(a.Rows)
	}
	if columns == nil {
		columns = AsGiven(a.Columns)
	}
	return newMatrix(a, rows, columns, once)
}

func newMatrix(a *CSR, rows, columns Order, layout Layout) (*Matrix, error) {
	if err := rows.check(a.Rows); err != nil {
		return nil, err
	}
	if err := columns.check(a.Columns); err != nil {
		return nil, err
	}
	m := &Matrix{rows: rows, forward: layOut(a, rows, columns, layout), entries: a.Entries()}
	if m.backward = m.forward; !slices.Equal(rows, columns) || !a.Symmetric() {
		m.backward = layOut(a.Transpose(), columns, rows, layout)
	}
	return m, nil
}

// layOut lays out a matrix with constant weights.
func layOut(a *CSR, rows, columns Order, layout Layout) *laid {
	l := &laid{sliced: slice(a, 1, rows, columns.positions(), layout)}
	l.base()
	add(&l.arrays, weight, l.weight)
	l.reorder(rows, 1)
	return l
}

// base adds the arrays that all products read.
func (l *laid) base() {
	add(&l.arrays, column, l.column)
	add(&l.arrays, chunk, l.chunk)
	add(&l.arrays, chunkWeight, l.chunkWeight)
}

// reorder adds the array that reorders results from the order by length to rows.
func (l *laid) reorder(rows Order, copies int) {
	if slices.Equal(rows, l.order) {
		return
	}
	add(&l.arrays, toOrder, copied(rowsIn(l.order, rows), copies))
}

// rowsIn are, for each node in the order to, its position in the order from.
func rowsIn(from, to Order) []int32 {
	at, out := from.positions(), make([]int32, len(to))
	for p, v := range to {
		out[p] = at[v]
	}
	return out
}

// copied are the positions of nodes that come in several copies, side by side.
func copied(positions []int32, copies int) []int32 {
	out := make([]int32, 0, len(positions)*copies)
	for _, p := range positions {
		for k := range copies {
			out = append(out, p*int32(copies)+int32(k))
		}
	}
	return out
}

// SymNorm is the adjacency matrix with self loops, symmetrically normalised (Kipf and Welling 2017; paper section
// 3.3):
//
//	Â = D^-1/2 (A + I) D^-1/2, with D the degrees of A + I.
//
// Its spectral norm is 1. An isolated node keeps its own features: Â_ii = 1.
func SymNorm(g *graphs.Graph) (*Matrix, error) {
	return NewMatrix(Adjacency(g).WithSelfLoops().SymmetricNormalised(), nil)
}

// Size is n, and Entries the number of stored entries (2|E| + n for [SymNorm]).
func (m *Matrix) Size() int    { return m.forward.rows }
func (m *Matrix) Entries() int { return m.entries }

// Places is the number of stored places of A: entries, padding, and the sums of long rows' chunks.
func (m *Matrix) Places() int { return len(m.forward.column) + len(m.forward.chunk) }

// Symmetric tells whether A is its own transpose, in the same order.
func (m *Matrix) Symmetric() bool { return m.forward == m.backward }

// Order is the order of the rows of products; for a square matrix also the order of the rows of what it multiplies.
func (m *Matrix) Order() Order { return m.rows }

// Tensors are the arrays to pass to the graph that uses the matrix; there, hand their nodes to [Matrix.On] or
// [Matrix.Bare].
func (m *Matrix) Tensors() []*tensors.Tensor {
	if m.Symmetric() {
		return m.forward.tensors
	}
	return slices.Concat(m.forward.tensors, m.backward.tensors)
}
