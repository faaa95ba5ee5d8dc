package models

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// frame is what all models of the paper have in common (section 3.1): an encoder, whose features H forward and reverse
// message passing start from, and a head, which reads both results side by side:
//
//	H = dropout(ReLU(X W_in + b)),  Y = head(norm( f∘…∘f(H) ‖ g∘…∘g(H) )),  g = f^-1
//
// norm is the one that the setting "norm" names. (Dropout before ReLU, as here, gives the same.)
type frame struct {
	// encoder is the name of the encoder's linear layer in the authors' PyTorch code, head(i, n) that of layer i of the
	// n linear layers of the head.
	encoder string
	head    func(i, n int) string
	slow    *halfHop // nil without Half-Hop
}

// encode is H.
func (f frame) encode(b *Builder) *Node {
	h := b.Encode(f.encoder, b.Config.Hidden)
	if f.slow != nil {
		h = b.Matrix(f.slow.into).Product(h)
	}
	h = b.Dropout(h)
	return Max(h, ZerosLike(h))
}

// readout is norm and head.
func (f frame) readout(b *Builder, x *Node) *Node {
	x = b.Norm("out_norm", x)
	n := b.Config.HeadLayers
	for i := range n {
		out := b.Config.Hidden
		if i > 0 {
			x = Max(x, ZerosLike(x))
		}
		if i == n-1 {
			out = b.Outputs
		}
		x = b.Linear(f.head(i, n), x, out)
	}
	return x
}
