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

// sage is GraphSAGE (Hamilton et al., NeurIPS 2017) in the network [platonov], with the module
//
//	M(Z) = FFN([Z, D^-1 A Z])                     Z [n, d], concatenated columns [n, 2d]
//
// where FFN is [feedForward]. A is the adjacency without self loops, and D holds its degrees. A row of D^-1 A Z is the
// mean over the neighbours of a node, or 0 for a node without neighbours.
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
		mean := s.mean.On(b.Arrays).Product(z)
		return feedForward(b, name+"feed_forward_module.", Concatenate([]*Node{z, mean}, -1))
	}}
}
