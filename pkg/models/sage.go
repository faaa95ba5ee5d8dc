package models

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	registerPlatonov(Kind{Name: "sage", Title: "SAGE",
		Layer:     "X + W2 GELU(W1 [Z, mean of neighbours' Z] + b1) + b2, Z = LayerNorm(X)",
		Reference: "Hamilton et al., NeurIPS 2017, "}, func() messages { return &sage{} })
}

// sage is GraphSAGE (Hamilton et al., NeurIPS 2017) in the network of Platonov et al. (see [platonov]). A layer of this
// network is X + M(LayerNorm(X)), where the module M is
//
//	M(Z) = FFN([Z, D^-1 A Z])                     Z and M(Z) [n, d], [Z, D^-1 A Z] [n, 2d]
//
// FFN is [feedForward]: two linear maps with GELU between them, and dropout. A is the adjacency matrix without self
// loops, and D is the diagonal matrix of the nodes' degrees. Row i of D^-1 A Z is the mean of Z's rows over the
// neighbours of node i. It is 0 if node i has no neighbours.
type sage struct{ mean *sparse.Matrix }

// Prepare lays out the matrix D^-1 A of [sage], [n, n], with which the network takes means over neighbours.
func (s *sage) Prepare(g *graphs.Graph) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	if s.mean, err = sparse.NewMatrix(sparse.Adjacency(g).RowNormalised(), nil); err != nil {
		return nil, nil, err
	}
	return s.mean.Order(), s.mean.Tensors(), nil
}

func (s *sage) modules() []module {
	return []module{func(b *Builder, name string, z *Node) *Node {
		mean := b.Matrix(s.mean).Product(z)
		return feedForward(b, name+"feed_forward_module.", Concatenate([]*Node{z, mean}, -1))
	}}
}
