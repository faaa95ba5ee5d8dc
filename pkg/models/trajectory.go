package models

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Trace implements [Tracer].
func (r residual) Trace(b *Builder, forward, reverse []int) (forwards, reverses []*Node) {
	h := r.encode(b)
	layer := r.chain.layers(b, h)
	forwards = follow(h, forward, layer.forward)
	for i, x := range forwards {
		forwards[i] = r.chain.collect(b, x)
	}
	reverses = follow(h, reverse, func(x *Node, depth int) *Node {
		return layer.invert(x, depth, b.Config.solves()).Z
	})
	return forwards, reverses
}

// follow returns the states (the features of all nodes) after each of the given numbers of layers. These numbers are in
// ascending order. The argument x is the state after 0 layers. The function chain applies further layers to a state;
// depth is their number.
func follow(x *Node, layers []int, chain func(x *Node, depth int) *Node) []*Node {
	states := make([]*Node, len(layers))
	at := 0
	for i, l := range layers {
		x, at = chain(x, l-at), l
		states[i] = x
	}
	return states
}

// Readout implements [Tracer].
func (r residual) Readout(b *Builder, forward, reverse *Node) *Node {
	if !b.Config.HasReverse() {
		return r.readout(b, forward)
	}
	if forward == nil {
		forward = loop.Zeros(reverse)
	}
	if reverse == nil {
		reverse = loop.Zeros(forward)
	}
	return r.readout(b, Concatenate([]*Node{forward, reverse}, 1))
}
