package solve

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// Block is the residual branch h of a layer f(X) = X + h(X; w). X has shape [n, d]; w are its weights and whatever else it
// reads: the first Trainable() of them receive gradients, the others (index arrays, say) do not.
//
// All methods are called inside loop bodies, under the rules of package loop: they may use nothing but their arguments.
type Block interface {
	// Trainable is the number of leading entries of w that receive gradients.
	Trainable() int
	// Apply is h(X; w).
	Apply(x *Node, w []*Node) *Node
	// Linearize is h(X; w), together with what the derivative at X needs.
	Linearize(x *Node, w []*Node) (h *Node, tape []*Node)
	// PullX is the vector-Jacobian product (∂h/∂X)^T v, of X's shape, and what of its computation PullW can use, if anything.
	// It is called repeatedly on one tape.
	PullX(v *Node, tape, w []*Node) (dx *Node, shared []*Node)
	// PullW are the vector-Jacobian products (∂h/∂w)^T v of the trainable weights, of their shapes. In a solve for v, shared
	// is that of the last iterate before v, which differs from v by less than the solve's tolerance.
	PullW(v *Node, shared, tape, w []*Node) []*Node
}

// custom makes y, computed by any means from inputs, differentiable: pull receives y's cotangent and returns those of the
// inputs, of which the first has y's size or more. (GoMLX's custom gradients have one input: the inputs are packed into one vector.)
func custom(y *Node, inputs []*Node, pull func(v *Node) []*Node) *Node {
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

// stopped are the nodes cut off from differentiation.
func stopped(nodes []*Node) []*Node {
	out := make([]*Node, len(nodes))
	for i, n := range nodes {
		out[i] = StopGradient(n)
	}
	return out
}
