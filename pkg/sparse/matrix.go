package sparse

import (
	"fmt"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/loop"
)

// Matrix is a sparse matrix A, [n, m], with weights known beforehand, laid out for the engine; see [Matrix.On].
type Matrix struct {
	rows     Order
	forward  *sliced
	backward *sliced // the transpose; equal to forward if A is symmetric
}

// NewMatrix lays out a square matrix, with rows of x and of A x in the given order; nil is that by length, which needs
// no reordering. All matrices of a model must have one order.
func NewMatrix(a *CSR, order Order, layout Layout) (*Matrix, error) {
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
	return newMatrix(a, order, order, layout.constant())
}

// NewRectangular lays out a matrix whose rows and columns stand for different sets, such as nodes and features. A nil
// order is [AsGiven].
func NewRectangular(a *CSR, rows, columns Order, layout Layout) (*Matrix, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	return newMatrix(a, rows.or(a.Rows), columns.or(a.Columns), layout.once())
}

func newMatrix(a *CSR, rows, columns Order, layout plan) (*Matrix, error) {
	if err := rows.check(a.Rows); err != nil {
		return nil, err
	}
	if err := columns.check(a.Columns); err != nil {
		return nil, err
	}
	m := &Matrix{rows: rows, forward: slice(a, 1, rows, columns, layout, false)}
	if m.backward = m.forward; !slices.Equal(rows, columns) || !a.Symmetric() {
		m.backward = slice(a.Transpose(), 1, columns, rows, layout, false)
	}
	return m, nil
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

// SymNorm is Â = D^-1/2 (A + I) D^-1/2 for the row sums D of A + I (Kipf and Welling 2017; paper section 3.3). Its
// spectral norm is 1. An isolated node keeps its own features.
func SymNorm(g *graphs.Graph, layout Layout) (*Matrix, error) {
	return NewMatrix(Adjacency(g).WithSelfLoops().SymmetricNormalised(), nil, layout)
}

// Symmetric tells whether A equals its transpose, in one order of rows and columns.
func (m *Matrix) Symmetric() bool { return m.forward == m.backward }

// Order is the order of the rows of A x and, for [NewMatrix], of x.
func (m *Matrix) Order() Order { return m.rows }

// Tensors are the arguments of a program that uses the matrix; [Matrix.On] takes the nodes that stand for them.
func (m *Matrix) Tensors() []*tensors.Tensor {
	return tensorsOf(m.forward, m.backward)
}

func tensorsOf(forward, backward *sliced) []*tensors.Tensor {
	if forward == backward {
		return forward.tensors
	}
	return slices.Concat(forward.tensors, backward.tensors)
}

// Operator is a sparse matrix A, [n, m], inside a GoMLX computation or a loop body. Its products can be differentiated
// any number of times in x. [Matrix.On] makes one of weights that are known beforehand, [BareEdges.Operator] one of
// weights that a model computes.
type Operator struct {
	forward, backward *sliced
	nodes             []*Node // the arrays of forward, then those of backward unless it equals forward
	weights           *Node   // [places, 1]; nil for the stored weights
	transposed        bool
}

// On returns the operator for the nodes that stand for the arrays of [Matrix.Tensors].
func (m *Matrix) On(nodes []*Node) Operator {
	return Operator{forward: m.forward, backward: m.backward, nodes: nodes}
}

// Fixed implements [loop.Fixed]: the weights of the matrix get no gradient.
func (Operator) Fixed() {}

// Product is A x, [n, d], for x of shape [m, d]. If v is the cotangent of A x, the cotangent of x is A^T v.
func (o Operator) Product(x *Node) *Node {
	s, back := bindBoth(o.forward, o.backward, o.nodes)
	if o.transposed {
		s, back = back, s
	}
	checkRows("Product", "x", x, back.rows)
	w := o.weights
	if w == nil {
		w = s.array(weight)
	}
	y := s.inOrder(s.product(w, StopGradient(x), s.array(column)))
	return loop.Custom(y, []*Node{x}, func(v *Node) []*Node { return []*Node{o.Transposed().Product(v)} })
}

// Transposed is the operator A^T, which passes messages against the direction of the edges.
func (o Operator) Transposed() Operator {
	o.transposed = !o.transposed
	return o
}

// bindBoth binds a matrix and its transpose to their nodes, which nodes has once if both are the same.
func bindBoth(forward, backward *sliced, nodes []*Node) (f, b sums) {
	if forward == backward {
		f = forward.bind(nodes)
		return f, f
	}
	n := min(len(forward.tensors), len(nodes)) // if there are too few nodes, bind panics below
	return forward.bind(nodes[:n]), backward.bind(nodes[n:])
}

// checkRows panics unless x is a matrix with the given number of rows.
func checkRows(operation, what string, x *Node, rows int) {
	if dims := x.Shape().Dimensions; len(dims) != 2 || dims[0] != rows {
		panic(fmt.Errorf("sparse: %s needs %s of shape [%d, any], not %v", operation, what, rows, dims))
	}
}

// inOrder brings rows from the order by length to the model's.
func (s sums) inOrder(x *Node) *Node {
	if at := s.array(toOrder); at != nil {
		return Gather(x, at)
	}
	return x
}
