// Package gradient lets a computation in GoMLX have a gradient that is written by hand. This gradient takes the place
// of the one that GoMLX would derive from the operations of the computation.
package gradient

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Custom returns y with a gradient that is written by hand. y is the result of any computation from the inputs, and
// GoMLX does not differentiate this computation. The function pull computes the gradient. Its argument v is the
// cotangent of y, which is the gradient of the loss with respect to y. pull returns the cotangents of the inputs, each
// in the shape of its input. For second derivatives, GoMLX differentiates the operations of pull. y and all inputs must
// have the same data type.
//
// Custom is made of GoMLX's function IdentityWithCustomGradient. This function returns its only argument, and lets a Go
// function compute the gradient of this argument. The argument is one vector: as many zeros as y has entries, followed
// by the entries of all inputs. Custom returns the sum of y and these zeros, which equals y. In the backward pass, the
// cotangent of this sum is also the cotangent of the zeros. GoMLX therefore passes it to the Go function, which gives
// it to pull and returns the cotangents of the inputs.
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

// pack flattens the given arrays and joins them into one vector.
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
