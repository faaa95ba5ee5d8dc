package models

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	Register(Kind{Name: "mlp", Title: "MLP", Layer: "ReLU(X W1 + b1) W2 + b2, of each node by itself",
		Reference: "as in He et al., NeurIPS 2021", Shared: []string{"hidden", "dropout"}, DropFeatures: true,
		Defaults: func(c *Config) { c.Dropout = 0.5 }, Depth: func(Config) string { return "2" },
		New: func(Config) Network { return mlp{} }})
}

// mlp is a perceptron of two layers that reads only each node's own features, as in He et al. (NeurIPS 2021). The
// defaults, width 64 and dropout 0.5, are those of He et al. The parameters have the names of their code,
// https://github.com/ivam-he/BernNet:
//
//	H      = dropout(ReLU(dropout(X) W1^T + b1))   features X [n, features], H [n, d]
//	logits = H W2^T + b2                           [n, outputs]
//
// Here "features" is the number of features of a node, and "outputs" is the number of logits of a node.
type mlp struct{}

// Prepare returns no arrays, since the network does not read the edges.
func (mlp) Prepare(g *graphs.Graph) (sparse.Order, []*tensors.Tensor, error) {
	return sparse.AsGiven(g.NumNodes), nil, nil
}

// Build implements [Network]. The representation is H of [mlp], [n, d].
func (mlp) Build(b *Builder) Output {
	h, logits := b.perceptron()
	return Output{Logits: logits, Representation: h}
}

// perceptron returns H and the logits of [mlp], and declares the parameters lin1 and lin2. The models APPNP, GPR-GNN
// and BernNet also begin with it.
func (b *Builder) perceptron() (h, logits *Node) {
	x := b.Encode("lin1", b.Config.Hidden)
	h = b.Dropout(Max(x, ZerosLike(x)))
	return h, b.Linear("lin2", h, b.Outputs)
}
