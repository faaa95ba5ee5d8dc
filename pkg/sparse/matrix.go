package sparse

import (
	"fmt"
	"slices"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
)

// Matrix is a sparse matrix A, [n, m], whose weights are known beforehand. It is stored in the form in which the engine
// multiplies it by dense matrices; see [Matrix.On]. If A is not symmetric, Matrix also holds the transpose of A, which
// derivatives need.
type Matrix struct {
	rows     Order
	forward  *laid
	backward *laid // equal to forward if A is symmetric
	entries  int
}

// laid is a sparse matrix in the form of [sliced], with the arrays that are passed to the program.
type laid struct {
	*sliced
	arrays
}

// NewMatrix lays out a square matrix. Rows of x and of A x are in the given order; nil is the order by length, in which
// results need not be reordered. All matrices of a model must have one order.
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

// NewRectangular lays out a matrix [n, m] whose rows and columns stand for different sets, such as users and things, or
// nodes and features that are mostly 0. A nil order is [AsGiven].
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

// layOut lays out a, with weights that are known beforehand.
func layOut(a *CSR, rows, columns Order, layout Layout) *laid {
	l := &laid{sliced: slice(a, 1, rows, columns.positions(), layout)}
	l.base()
	add(&l.arrays, weight, l.weight)
	l.reorder(rows, 1)
	return l
}

// base adds the arrays that a [Matrix] and a [Pattern] have in common.
func (l *laid) base() {
	add(&l.arrays, column, l.column)
	add(&l.arrays, chunk, l.chunk)
	add(&l.arrays, chunkWeight, l.chunkWeight)
}

// reorder adds the array that brings results to the order of rows, unless they are in it.
func (l *laid) reorder(rows Order, copies int) {
	if slices.Equal(rows, l.order) {
		return
	}
	add(&l.arrays, toOrder, copied(rowsIn(l.order, rows), copies))
}

// rowsIn has, for each node in the order to, its position in the order from.
func rowsIn(from, to Order) []int32 {
	at, out := from.positions(), make([]int32, len(to))
	for p, v := range to {
		out[p] = at[v]
	}
	return out
}

// copied replaces each position p by those of the node's copies, p*copies to p*copies + copies - 1.
func copied(positions []int32, copies int) []int32 {
	out := make([]int32, 0, len(positions)*copies)
	for _, p := range positions {
		for k := range copies {
			out = append(out, p*int32(copies)+int32(k))
		}
	}
	return out
}

// SymNorm is the adjacency matrix with self loops, symmetrically normalised (Kipf and Welling 2017; section 3.3 of the
// paper that revgnn implements):
//
//	Â = D^-1/2 (A + I) D^-1/2
//
// The diagonal matrix D has the row sums of A + I, which are the nodes' degrees, self loops included. The spectral norm
// of Â is 1. An isolated node i keeps its own features, since Â_ii = 1.
func SymNorm(g *graphs.Graph) (*Matrix, error) {
	return NewMatrix(Adjacency(g).WithSelfLoops().SymmetricNormalised(), nil)
}

// Size is the number of rows of A. Entries is the number of stored entries. (For [SymNorm] of a graph with n nodes and
// |E| edges, Entries is 2|E| + n: two entries for each edge, and one for each self loop.)
func (m *Matrix) Size() int    { return m.forward.rows }
func (m *Matrix) Entries() int { return m.entries }

// Places is the number of terms of a product A x: entries, padding, and sums of chunks.
func (m *Matrix) Places() int { return len(m.forward.column) + len(m.forward.chunk) }

// Symmetric tells whether A equals its transpose, in one order of rows and columns.
func (m *Matrix) Symmetric() bool { return m.forward == m.backward }

// Order is the order of the rows of A x and, for [NewMatrix], of x.
func (m *Matrix) Order() Order { return m.rows }

// Tensors are the arguments of a program that uses the matrix; [Matrix.On] takes the nodes that stand for them.
func (m *Matrix) Tensors() []*tensors.Tensor {
	if m.Symmetric() {
		return m.forward.tensors
	}
	return slices.Concat(m.forward.tensors, m.backward.tensors)
}
