package models

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/solve"
)

// gatedBlock returns the block G ∘ h and the list of its weights, given a block h and the list w of the weights of h. ∘
// is the product entry by entry. The entries of G are called gates. They are between 0 and 1, and are the same in all
// layers, forward and reverse:
//
//	G ∘ h(X),  G = sigmoid(H U + u),  H the input of the first layer,  H, G: [n, d], U: [d, d], u: [d]
//
// See [layers.Gated]. The block h is the Go argument block, and H is the Go argument h. G does not depend on X, so that
// the bound on Lip(h) also holds for G ∘ h, and the layers stay invertible. U and u are trained, and start as in
// PyTorch's linear layers.
func gatedBlock(b *Builder, block solve.Block, h *Node, w []*Node) (solve.Block, []*Node) {
	gate := Sigmoid(b.Linear("stack.0.body.gate", h, b.Config.Hidden))
	return layers.Gated{Block: block}, append([]*Node{gate}, w...)
}

// projection returns the projection that the setting "block-norm" names; see [layers.Projection]. ok is false if the
// setting is "none".
func (c Config) projection() (p layers.Projection, ok bool) {
	if c.BlockNorm == "" || c.BlockNorm == "none" {
		return "", false
	}
	return layers.Projection(c.BlockNorm), true
}
