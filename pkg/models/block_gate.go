package models

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/solve"
)

// gatedBlock returns a block whose branch is G ∘ h(X), where h is the branch of the given block, and ∘ multiplies entry
// by entry. The entries of G are called gates. They are between 0 and 1, and are the same in all layers, forward and
// reverse:
//
//	G = sigmoid(H U + u)      H, G: [n, d], U: [d, d], u: [d]
//
// H is the input of the first layer, the Go argument h. U and u are trained, and start as in PyTorch's linear layers. G
// does not depend on X. Therefore the bound on Lip(h) also holds for G ∘ h, and the layers stay invertible.
//
// The second result is the list of arrays that the new block reads: G, and then w, the weights of the given block. See
// [layers.Gated].
func gatedBlock(b *Builder, block solve.Block, h *Node, w []*Node) (solve.Block, []*Node) {
	gate := Sigmoid(b.Linear("stack.0.body.gate", h, b.Config.Hidden))
	return layers.Gated{Block: block}, append([]*Node{gate}, w...)
}

// projection returns the normalisation of the input of h that the setting "block-norm" names; see [layers.Projection].
// ok is false if there is no such normalisation.
func (c Config) projection() (p layers.Projection, ok bool) {
	if c.BlockNorm == "" || c.BlockNorm == "none" {
		return "", false
	}
	return layers.Projection(c.BlockNorm), true
}
