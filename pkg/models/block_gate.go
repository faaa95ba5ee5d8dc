package models

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/solve"
)

// gatedBlock has a block's result scaled by gates between 0 and 1, which all layers share, forwards and backwards:
//
//	G ∘ h(X),  G = sigmoid(H U + u),  H what the first layer reads,  H, G: [n, d], U: [d, d], u: [d]
//
// (see [layers.Gated]). G does not depend on X, so that the bound on h is one on G ∘ h, and layers have an inverse. U
// and u start as PyTorch's linear layers.
func gatedBlock(b *Builder, block solve.Block, h *Node, w []*Node) (solve.Block, []*Node) {
	gate := Sigmoid(b.Linear("stack.0.body.gate", h, b.Config.Hidden))
	return layers.Gated{Block: block}, append([]*Node{gate}, w...)
}

// projection is the normalisation of what blocks read, if there is one.
func (c Config) projection() (p layers.Projection, ok bool) {
	if c.BlockNorm == "" || c.BlockNorm == "none" {
		return "", false
	}
	return layers.Projection(c.BlockNorm), true
}
