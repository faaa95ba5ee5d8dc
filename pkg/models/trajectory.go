package models

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/solve"
)

// Trace implements [Tracer].
func (r residual) Trace(b *Builder, forward, reverse []int) (forwards, reverses []*Node) {
	h := r.encode(b)
	block, w := r.chain.block(b, h)
	forwards = follow(h, forward, func(x *Node, depth int) *Node { return solve.ForwardChain(block, x, w, depth) })
	for i, x := range forwards {
		forwards[i] = r.chain.collect(b, x)
	}
	reverses = follow(h, reverse, func(x *Node, depth int) *Node {
		z, _ := solve.ReverseChain(block, x, w, depth, b.Config.solves())
		return z
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
