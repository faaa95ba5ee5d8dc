package sparse

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Operator is a [Matrix] inside a graph or a loop body, bound to the nodes of its index and weight arrays there.
type Operator struct {
	m     *Matrix
	nodes []*Node
}

// On binds the matrix to the nodes that hold [Matrix.Tensors], in their order.
func (m *Matrix) On(nodes []*Node) Operator { return Operator{m, nodes} }

// Product is A x, for x of shape [n, d] in the matrix's order. It may be used in loop bodies and has no gradient there;
// see [Operator.Apply].
func (o Operator) Product(x *Node) *Node {
	var parts []*Node
	for _, b := range o.m.buckets {
		parts = append(parts, o.sum(b, x, o.index(b), o.weight(b)))
	}
	return o.joined(parts, x)
}

// joined are the rows of a product, from the sums of the first level, bucket by bucket.
func (o Operator) joined(parts []*Node, x *Node) *Node {
	if len(parts) == 0 {
		return x
	}
	return o.m.assemble(parts, func(b bucket, chunks *Node) *Node { return o.sum(b, chunks, o.index(b), o.weight(b)) })
}

// index gives the rows that term k of a bucket reads.
func (o Operator) index(b bucket) func(k int) *Node {
	return func(k int) *Node { return Reshape(Slice(o.nodes[b.at], AxisElem(k)), b.rows, 1) }
}

// weight gives the weights of term k of a bucket.
func (o Operator) weight(b bucket) func(k int) *Node {
	return func(k int) *Node { return Reshape(Slice(o.nodes[b.at+1], AxisElem(k)), b.rows, 1) }
}

// sum is the sum of a bucket's rows of x, each times its weight; weight gives those of term k, of the terms' rank.
func (o Operator) sum(b bucket, x *Node, index, weight func(k int) *Node) (sum *Node) {
	for k := range b.terms {
		w := weight(k)
		if w.DType() != x.DType() {
			w = ConvertDType(w, x.DType())
		}
		term := Gather(x, index(k))
		term = Mul(term, BroadcastToShape(w, term.Shape()))
		if sum == nil {
			sum = term
		} else {
			sum = Add(sum, term)
		}
	}
	if sum == nil { // rows without entries
		sum = BroadcastToDims(loop.Float(x, 0), append([]int{b.rows}, x.Shape().Dimensions[1:]...)...)
	}
	return sum
}

func concatenate(parts []*Node) *Node {
	if len(parts) == 1 {
		return parts[0]
	}
	return Concatenate(parts, 0)
}

// Apply is A x with a gradient: the cotangent of x is A v, since A is symmetric. (The gradient that GoMLX would derive
// scatters, which is many times slower.)
func (o Operator) Apply(x *Node) *Node {
	y := StopGradient(o.Product(StopGradient(x)))
	q := IdentityWithCustomGradient(x, func(_, v *Node) *Node { return o.Product(v) })
	return Add(y, Sub(q, StopGradient(q)))
}
