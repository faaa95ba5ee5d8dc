package models

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/solve"
)

// Trajectory adds a model of residual layers to a graph and returns its states, [n, d] each, after the given numbers of
// layers in either direction; both lists must ascend, and 0 is the encoded input. It has no gradient.
func (m *Model) Trajectory(scope *model.Scope, arrays []*Node, forward, reverse []int) (forwards, reverses []*Node) {
	r, ok := m.backbone.(residual)
	if !ok {
		panic(fmt.Errorf("model %s has no layers to follow: choose a GCN or a GAT", m.Config.Model))
	}
	h, adjacency := m.encode(scope, arrays)
	block, w := r.block(m, scope, adjacency)
	forwards = follow(h, forward, func(x *Node, depth int) *Node { return solve.ForwardChain(block, x, w, depth) })
	reverses = follow(h, reverse, func(x *Node, depth int) *Node {
		z, _ := solve.ReverseChain(block, x, w, depth, m.Config.solves())
		return z
	})
	return forwards, reverses
}

// follow passes x through a chain and returns the states after those numbers of layers.
func follow(x *Node, layers []int, chain func(x *Node, depth int) *Node) []*Node {
	states := make([]*Node, len(layers))
	at := 0
	for i, l := range layers {
		x, at = chain(x, l-at), l
		states[i] = x
	}
	return states
}

// Readout is the logits [n, Outputs] that the head makes of states of both directions; nil stands for zeros, so that the head
// reads one direction alone (paper section 4.1.3, "Qualitative Analysis"). Plain models have no reverse states.
func (m *Model) Readout(scope *model.Scope, forward, reverse *Node) *Node {
	if !m.Config.HasReverse() {
		return m.readout(scope, m.norm(scope, forward))
	}
	if forward == nil {
		forward = loop.Zeros(reverse)
	}
	if reverse == nil {
		reverse = loop.Zeros(forward)
	}
	return m.readout(scope, m.norm(scope, Concatenate([]*Node{forward, reverse}, 1)))
}
