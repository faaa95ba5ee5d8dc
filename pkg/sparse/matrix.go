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

// laid is a sparse matrix in the form of [sliced], together with the arrays that are passed to the program. The rows of
// a product are computed in the order by length. If the model has a different order, one of the arrays says how to
// reorder the rows of the product.
type laid struct {
	*sliced
	arrays
}

// NewMatrix makes a [Matrix] from a square matrix. In a product A x, the rows of x and of the result are in the given
// order. A nil order stands for the order by length, which [Matrix.Order] then returns. With the order by length,
// results of products need not be reordered. All matrices of a model must have the same order.
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

// NewRectangular makes a [Matrix] from a matrix [n, m] whose rows and columns stand for two different sets. For
// example, the rows are users and the columns are the things that users can buy, or the rows are nodes and the columns
// are features that are mostly 0. In a product A x, the rows of x are in the order given by the argument columns, and
// the rows of the result are in the order given by the argument rows. A nil order stands for [AsGiven].
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

// layOut converts the matrix a to the form in which it is multiplied, and makes the arrays that are passed to the
// program. The weights of a are known beforehand. In a product with a dense matrix, the rows of the dense matrix are in
// the order given by the argument columns, and the rows of the result are in the order given by the argument rows.
func layOut(a *CSR, rows, columns Order, layout Layout) *laid {
	l := &laid{sliced: slice(a, 1, rows, columns.positions(), layout)}
	l.base()
	add(&l.arrays, weight, l.weight)
	l.reorder(rows, 1)
	return l
}

// base adds the arrays that both a [Matrix] and a [Pattern] need: the column of each entry, and the arrays that say how
// the sums of chunks are added up.
func (l *laid) base() {
	add(&l.arrays, column, l.column)
	add(&l.arrays, chunk, l.chunk)
	add(&l.arrays, chunkWeight, l.chunkWeight)
}

// reorder adds the array that reorders results from the order by length to the order given by the argument rows. If the
// two orders are the same, it adds nothing. The argument copies is the number of copies of each node.
func (l *laid) reorder(rows Order, copies int) {
	if slices.Equal(rows, l.order) {
		return
	}
	add(&l.arrays, toOrder, copied(rowsIn(l.order, rows), copies))
}

// rowsIn returns the positions from which to gather, if rows in the order `from` are to be brought into the order `to`.
// At index p, the result has the position of the node to[p] in the order `from`.
func rowsIn(from, to Order) []int32 {
	at, out := from.positions(), make([]int32, len(to))
	for p, v := range to {
		out[p] = at[v]
	}
	return out
}

// copied replaces the position of each node by the positions of all copies of this node. The argument copies is the
// number of copies of each node. If a node has position p in an order without copies, its copies have the positions
// p*copies to p*copies + copies - 1.
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

// Places is the number of terms that are added up to compute a product A x. The terms are entries and padding. If long
// rows are cut into chunks, the sums of the chunks are terms, too.
func (m *Matrix) Places() int { return len(m.forward.column) + len(m.forward.chunk) }

// Symmetric tells whether A equals its transpose and its rows and columns are in the same order.
func (m *Matrix) Symmetric() bool { return m.forward == m.backward }

// Order is the order of the rows of a product A x. If A was made by [NewMatrix], the rows of x are in this order, too.
func (m *Matrix) Order() Order { return m.rows }

// Tensors returns the arrays to pass as arguments to a program that uses the matrix. Inside the program, give the nodes
// that stand for these arrays to [Matrix.On] or [Matrix.Bare].
func (m *Matrix) Tensors() []*tensors.Tensor {
	if m.Symmetric() {
		return m.forward.tensors
	}
	return slices.Concat(m.forward.tensors, m.backward.tensors)
}
