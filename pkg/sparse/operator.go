package sparse

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/gradient"
)

// Bare returns an operator that computes products with the matrix and defines no derivatives. It is for loop bodies,
// and for code whose derivatives are written by hand. The argument nodes has the nodes that stand for the arrays of
// [Matrix.Tensors].
func (m *Matrix) Bare(nodes []*Node) BareOperator {
	forward, backward := bindBoth(m.forward, m.backward, nodes)
	return BareOperator{forward, backward}
}

// BareOperator is a [Matrix] A, of shape [n, m], inside a GoMLX computation or a loop body. It defines no derivatives,
// so use it in code whose derivatives are written by hand. (GoMLX could differentiate its products, but would use
// scatters. These are many times slower than products with A^T.)
type BareOperator struct{ forward, backward sums }

// Product is A x. x is [m, d], and the result is [n, d].
func (o BareOperator) Product(x *Node) *Node {
	s := o.forward
	var parts []*Node
	for _, b := range s.buckets {
		parts = append(parts, b.sum(x, s.arrays[column], func(k int) *Node { return b.term(s.arrays[weight], k) }))
	}
	return s.inOrder(s.addChunks(parts, x))
}

// bindBoth returns a sparse matrix and its transpose as values of the type [sums], for use inside a GoMLX computation.
// The argument forward is the matrix, and backward is its transpose. The argument nodes has the nodes that stand for
// the arrays of the matrix, and then the nodes that stand for the arrays of the transpose. If forward and backward are
// the same pointer, nodes has the arrays only once.
func bindBoth(forward, backward *laid, nodes []*Node) (f, b sums) {
	if forward == backward {
		f = sums{forward.sliced, forward.bind(nodes)}
		return f, f
	}
	n := min(len(forward.tensors), len(nodes)) // if there are too few nodes, bind panics below
	return sums{forward.sliced, forward.bind(nodes[:n])}, sums{backward.sliced, backward.bind(nodes[n:])}
}

// checkRows panics unless x is a matrix with the given number of rows.
func checkRows(operation, what string, x *Node, rows int) {
	if dims := x.Shape().Dimensions; len(dims) != 2 || dims[0] != rows {
		panic(fmt.Errorf("sparse: %s needs %s of shape [%d, any], not %v", operation, what, rows, dims))
	}
}

// inOrder reorders the rows of x from the order by length to the model's order.
func (s sums) inOrder(x *Node) *Node {
	if s.arrays[toOrder] == nil {
		return x
	}
	return Gather(x, s.arrays[toOrder])
}

// Transposed is the operator A^T. Its products have shape [m, d] for x of shape [n, d].
func (o BareOperator) Transposed() BareOperator { return BareOperator{o.backward, o.forward} }

// On returns an operator that computes products with the matrix and has derivatives. It is for ordinary code, outside
// of loop bodies. The argument nodes has the nodes that stand for the arrays of [Matrix.Tensors].
func (m *Matrix) On(nodes []*Node) Operator { return Operator{m.Bare(nodes)} }

// Operator is a [Matrix] A, of shape [n, m], inside a GoMLX computation. It is for use outside of loop bodies. Its
// products can be differentiated any number of times.
type Operator struct{ bare BareOperator }

// Product is A x. x is [m, d], and the result is [n, d]. If v is the cotangent of A x, the cotangent of x is A^T v.
func (o Operator) Product(x *Node) *Node {
	checkRows("Product", "x", x, o.bare.forward.columns)
	return gradient.Custom(o.bare.Product(StopGradient(x)), []*Node{x}, func(v *Node) []*Node {
		return []*Node{o.Transposed().Product(v)}
	})
}

// Transposed is the operator A^T, which passes messages against the direction of the edges. For x of shape [n, d], the
// product A^T x has shape [m, d].
func (o Operator) Transposed() Operator { return Operator{o.bare.Transposed()} }
