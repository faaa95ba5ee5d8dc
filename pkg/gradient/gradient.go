// Package gradient gives results of any computation a derivative by hand.
package gradient

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Custom gives y, computed by any means from inputs, a gradient by hand: pull receives y's cotangent and returns
// those of the inputs, of their shapes. Nothing but pull is differentiated. All nodes are of one type.
//
// GoMLX's custom gradients have one input: zeros of y's size and the inputs are packed into one vector. The result is
// y and those zeros, through which the cotangent of y comes back.
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

// pack flattens and joins nodes.
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
