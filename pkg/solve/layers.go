package solve

import (
	"fmt"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
)

// PerLayer makes a block for chains whose layers have separate weights. The trainable weights with the given numbers
// (all, if none is given) are stacks [depth, …] for [ForwardChain], [ReverseChain], [ReverseChainUnrolled] and
// [Profile]: layer l reads slice l. Gradients are such stacks, too. The layer is still compiled once, whatever the
// depth.
//
// Layers are numbered as the forward chain applies them, and reverse chains apply their inverses from the last to the
// first:
//
//	f^(L) ∘ … ∘ f^(1)  and  g^(1) ∘ … ∘ g^(L),  g^(l) = (f^(l))^-1
//
// (paper section 3.1), so that a reverse chain undoes the forward chain with the same weights.
//
// As adjacent layers then have little in common, solves neither start from earlier layers nor pass anything to the
// next one: reverse chains take some iterations more per layer than with shared weights.
//
// The methods of the returned block are those of block, for the weights of one layer.
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

// perLayer is what PerLayer returns.
type perLayer struct {
	Block
	own own
}

// layered is the block for one layer, and the numbers of the weights that are stacks.
func layered(block Block) (Block, own) {
	if p, ok := block.(perLayer); ok {
		return p.Block, p.own
	}
	return block, nil
}

// own lists the numbers of the weights that are stacks, with a slice for each layer. If it is empty, all weights are
// shared and its methods treat them so.
type own []int

// check panics unless the stacks have depth slices.
func (o own) check(w []*Node, depth int) {
	for _, p := range o {
		if s := w[p].Shape(); s.Rank() < 1 || s.Dimensions[0] != depth {
			panic(fmt.Errorf("package solve: weight %d has shape %s, but there are %d layers: "+
				"stack one weight per layer", p, s, depth))
		}
	}
}

// at are the weights of one layer: slices of the stacks, and the shared weights.
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

// add adds the weights' cotangents dw of one layer to the sums.
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
