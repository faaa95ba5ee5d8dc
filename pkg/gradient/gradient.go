// Package gradient gives the result of any GoMLX computation a derivative written by hand.
package gradient

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Custom gives y, computed in any way from inputs, a gradient written by hand. pull receives the cotangent of y, which
// is the gradient of the loss by y, and returns the cotangents of the inputs, each in the shape of its input. GoMLX
// does not differentiate the computation of y. For second derivatives, GoMLX differentiates pull. y and all inputs must
// have the same data type.
//
// GoMLX's custom gradients take a single input. Therefore zeros of y's size and the inputs are packed into one vector.
// The result is y plus these zeros, through which the cotangent of y reaches pull.
func Custom(y *Node, inputs []*Node, pull func(v *Node) []*Node) *Node {
	shape := y.Shape().Dimensions
	first := func(p *Node) *Node { return Reshape(Slice(p, AxisRange(0, y.Shape().Size())), shape...) }
	p := pack(append([]*Node{loop.Zeros(y)}, inputs...))
	p = IdentityWithCustomGradient(p, func(_, v *Node) *Node {
		v = first(v)
		return pack(append([]*Node{loop.Zeros(v)}, pull(v)...))
	})
	return Add(StopGradient(y), first(p))
}

// pack flattens nodes and joins them into one vector.
func pack(nodes []*Node) *Node {
	flat := make([]*Node, len(nodes))
	for i, n := range nodes {
		flat[i] = Reshape(n, n.Shape().Size())
	}
	if len(flat) == 1 {
		return flat[0]
	}
	return Concatenate(flat, 0)
}
