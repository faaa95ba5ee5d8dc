package solve

import (
	"fmt"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
)

// PerLayer makes a block for chains whose layers have separate weights. The argument weights lists the trainable
// weights that are separate, each by its index in the block's list of weights. If the argument is empty, all trainable
// weights are separate. In [ForwardChain], [ReverseChain], [ReverseChainUnrolled] and [Profile] a separate weight is a
// stack: an array [depth, …], of which layer l reads slice l. The gradient of such a weight is a stack, too. The layer
// is compiled only once, whatever the depth.
//
// Layers are numbered in the order in which the forward chain applies them. Reverse chains apply the layers' inverses
// from the last layer to the first:
//
//	f^(L) ∘ … ∘ f^(1)  and  g^(1) ∘ … ∘ g^(L),  g^(l) = (f^(l))^-1
//
// (paper section 3.1). So a reverse chain undoes a forward chain that has the same weights.
//
// Layers with separate weights have little in common, even if they are adjacent. So each solve starts from its
// right-hand side, and not from an extrapolation of what other layers computed. Reverse chains therefore need some more
// iterations per layer than with shared weights.
//
// The methods of the returned block are those of the argument block, for the weights of one layer.
func PerLayer(block Block, weights ...int) Block {
	b, own := layered(block)
	if len(own) > 0 {
		panic(fmt.Errorf("solve.PerLayer: the block has weights %v per layer already: name all of them in one call",
			own))
	}
	if len(weights) == 0 {
		for p := range b.Trainable() {
			weights = append(weights, p)
		}
	}
	for i, p := range weights {
		if p < 0 || p >= b.Trainable() || slices.Contains(weights[:i], p) {
			panic(fmt.Errorf("solve.PerLayer: %v are not numbers of trainable weights: "+
				"choose different ones from 0 to %d", weights, b.Trainable()-1))
		}
	}
	return perLayer{b, weights}
}

// perLayer is the block that [PerLayer] returns.
type perLayer struct {
	Block
	own own
}

// layered returns the block of a single layer, and the list of the weights that are stacks. If PerLayer made the
// argument block, the block of a single layer is the one that PerLayer was given. Otherwise layered returns the
// argument itself and an empty list.
func layered(block Block) (Block, own) {
	if p, ok := block.(perLayer); ok {
		return p.Block, p.own
	}
	return block, nil
}

// own lists the weights that are stacks with a slice for each layer. Weights are listed by their indices in the block's
// list of weights. If the list own is empty, all layers share all weights.
type own []int

// check panics unless each stack has a slice for each layer. The argument depth is the number of layers.
func (o own) check(w []*Node, depth int) {
	for _, p := range o {
		if s := w[p].Shape(); s.Rank() < 1 || s.Dimensions[0] != depth {
			panic(fmt.Errorf("package solve: weight %d has shape %s, but there are %d layers: "+
				"stack one weight per layer", p, s, depth))
		}
	}
}

// at returns the weights of one layer: the layer's slices of the stacks, and the weights that all layers share.
func (o own) at(w []*Node, layer *Node) []*Node {
	if len(o) == 0 {
		return w
	}
	w = slices.Clone(w)
	for _, p := range o {
		w[p] = load(w[p], layer)
	}
	return w
}

// add adds dw, one layer's part of the weights' cotangents, to sums, which are the sums over the layers so far. It
// returns the new sums. If a weight is a stack, each layer reads only its own slice of the weight. Then dw is stored as
// the layer's slice of the sum.
func (o own) add(sums, dw []*Node, layer *Node) []*Node {
	next := make([]*Node, len(sums))
	for p := range sums {
		if slices.Contains(o, p) {
			next[p] = store(sums[p], dw[p], layer)
		} else {
			next[p] = Add(sums[p], dw[p])
		}
	}
	return next
}
