package models

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/solve"
)

// gatedBlock multiplies a block's result by gates between 0 and 1, which are the same in all layers, forward and
// reverse:
//
//	G ∘ h(X),  G = sigmoid(H U + u),  H what the first layer reads,  H, G: [n, d], U: [d, d], u: [d]
//
// See [layers.Gated]. G does not depend on X, so that the bound on Lip(h) also holds for G ∘ h, and the layers stay
// invertible. U and u start as in PyTorch's linear layers.
func gatedBlock(b *Builder, block solve.Block, h *Node, w []*Node) (solve.Block, []*Node) {
	gate := Sigmoid(b.Linear("stack.0.body.gate", h, b.Config.Hidden))
	return layers.Gated{Block: block}, append([]*Node{gate}, w...)
}

// projection is the setting "block-norm" as a projection; ok is false for "none".
func (c Config) projection() (p layers.Projection, ok bool) {
	if c.BlockNorm == "" || c.BlockNorm == "none" {
		return "", false
	}
	return layers.Projection(c.BlockNorm), true
}
