package loop

import (
	"github.com/gomlx/gomlx/core/graph"
)

// Custom returns y with a gradient by hand: given the cotangent v of y, pull returns those of the inputs, in their shapes.
// All have one floating-point type. Second derivatives differentiate the operations of pull.
//
// Custom costs nothing in the body of a loop, or where all inputs are results of StopGradient; [Differentiate] leaves it out
// of the forward pass.
func Custom(y *Node, inputs []*Node, pull func(v *Node) []*Node) *Node {
	stopped := true
	for _, n := range inputs {
		stopped = stopped && n.StopGradient()
	}
	if stopped || !y.Graph().IsMainFunc() {
		return y
	}
	// GoMLX's IdentityWithCustomGradient has one argument: here as many zeros as y has entries, and the entries of all
	// inputs. The result is the sum of y and these zeros, whose cotangent is that of y.
	shape := y.Shape().Dimensions
	first := func(p *Node) *Node {
		return graph.Reshape(graph.Slice(p, graph.AxisRange(0, y.Shape().Size())), shape...)
	}
	p := pack(append([]*Node{Zeros(y)}, inputs...))
	p = graph.IdentityWithCustomGradient(p, func(_, v *Node) *Node {
		v = first(v)
		return pack(append([]*Node{Zeros(v)}, pull(v)...))
	})
	return graph.Add(graph.StopGradient(y), first(p))
}

// computed returns y if n is a result of [Custom], else nil.
func computed(n *Node) (y *Node) {
	if n.Type() != graph.NodeTypeAdd {
		return nil
	}
	y, zeros := n.Inputs()[0], n.Inputs()[1]
	for _, step := range []graph.NodeType{graph.NodeTypeReshape, graph.NodeTypeSlice} {
		if zeros.Type() == step {
			zeros = zeros.Inputs()[0]
		}
	}
	if !y.StopGradient() || zeros.CustomGradient() == nil {
		return nil
	}
	return y
}

// pack flattens arrays and joins them into one vector.
func pack(nodes []*Node) *Node {
	flat := make([]*Node, len(nodes))
	for i, n := range nodes {
		flat[i] = graph.Reshape(n, n.Shape().Size())
	}
	if len(flat) == 1 {
		return flat[0]
	}
	return graph.Concatenate(flat, 0)
}
