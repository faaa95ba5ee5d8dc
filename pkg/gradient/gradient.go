// Package gradient gives results of any computation a derivative by hand.
package gradient

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Custom gives y, computed by any means from inputs, a gradient by hand: pull receives y's cotangent and returns
// those of the inputs, of their shapes. Nothing but pull is differentiated. All nodes are of one type. (GoMLX's
// custom gradients have one input: the inputs are packed into one vector.)
func Custom(y *Node, inputs []*Node, pull func(v *Node) []*Node) *Node {
	size := 0
	for _, x := range inputs {
		size += x.Shape().Size()
	}
	// The inputs' place in one packed node is also that of y's cotangent, and must be as large.
	if size < y.Shape().Size() {
		return Custom(y, append([]*Node{loop.Zeros(y)}, inputs...), func(v *Node) []*Node {
			return append([]*Node{loop.Zeros(v)}, pull(v)...)
		})
	}
	p := pack(inputs)
	q := IdentityWithCustomGradient(p, func(_, v *Node) *Node {
		return pack(pull(Reshape(Slice(v, AxisRange(0, y.Shape().Size())), y.Shape().Dimensions...)))
	})
	q = Reshape(Slice(q, AxisRange(0, y.Shape().Size())), y.Shape().Dimensions...)
	return Add(StopGradient(y), Sub(q, StopGradient(q)))
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
