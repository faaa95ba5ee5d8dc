package sparse

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Operator is a sparse matrix A, [n, m], inside a GoMLX computation or a loop body. Its products can be differentiated
// any number of times in x. [Matrix.On] makes one of weights that are known beforehand, [BareEdges.Operator] one of
// weights that a model computes.
type Operator struct {
	forward, backward *laid
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

// bindBoth binds a matrix and its transpose to the nodes that stand for their arrays. If both are the same, nodes has
// the arrays once.
func bindBoth(forward, backward *laid, nodes []*Node) (f, b sums) {
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

// inOrder reorders the rows of x from the order by length to the model's order.
func (s sums) inOrder(x *Node) *Node {
	if at := s.array(toOrder); at != nil {
		return Gather(x, at)
	}
	return x
}
