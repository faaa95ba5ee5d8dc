package models

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/graphs"
)

func init() {
	Register(Kind{Name: "mlp", Title: "MLP", Layer: "ReLU(X W1 + b1) W2 + b2, of each node by itself",
		Reference: "as in He et al., NeurIPS 2021", Shared: []string{"hidden", "dropout"}, DropFeatures: true,
		Defaults: func(c *Config) { c.Dropout = 0.5 }, Depth: func(Config) string { return "2" },
		New: func(Config) Network { return mlp{} }})
}

// mlp is a perceptron of two layers, as in He et al. (NeurIPS 2021), with their width and dropout. The parameters have the
// names of their code, https://github.com/ivam-he/BernNet:
//
//	H      = dropout(ReLU(dropout(X) W1^T + b1))   features X [n, features], H [n, d]
//	logits = H W2^T + b2                           [n, outputs]
type mlp struct{}

func (mlp) Prepare(*graphs.Graph, *Arrays) {}

// Build implements [Network]. The representation is H.
func (mlp) Build(b *Builder) Output {
	h, logits := b.perceptron()
	return Output{Logits: logits, Representation: h}
}

// perceptron is H and the logits of [mlp], with which APPNP, GPR-GNN and BernNet begin, too.
func (b *Builder) perceptron() (h, logits *Node) {
	x := b.Encode("lin1", b.Config.Hidden)
	h = b.Dropout(Max(x, ZerosLike(x)))
	return h, b.Linear("lin2", h, b.Outputs)
}
