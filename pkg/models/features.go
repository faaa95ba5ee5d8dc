package models

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// features are a graph's node features X, [n, m], dense or, where most are zero, sparse.
type features struct {
	sparse *sparse.Matrix // nil if they are dense
	arrays []*tensors.Tensor
}

// dense is the share of features other than zero from which on they are multiplied as a dense matrix. (At one in 200,
// of Chameleon's 2325 features, the dense product and its derivative took a fifth of an epoch of GRAND.)
const dense = 1.0 / 16

// Sparse tells whether a model keeps a graph's features as a sparse matrix, and how many of them are not zero.
func Sparse(g *graphs.Graph) (entries int, yes bool) {
	for _, v := range g.Features {
		if v != 0 {
			entries++
		}
	}
	return entries, float64(entries) < dense*float64(len(g.Features))
}

// newFeatures prepares the features in an order of the nodes.
func newFeatures(g *graphs.Graph, order sparse.Order) (f features, err error) {
	x := sparse.Permute(order, g.Features, g.NumFeatures)
	if _, yes := Sparse(g); !yes {
		return features{arrays: []*tensors.Tensor{tensors.FromFlatDataAndDimensions(x, g.NumNodes, g.NumFeatures)}},
			nil
	}
	entries, err := sparse.FromDense(x, g.NumFeatures)
	if err != nil {
		return f, err
	}
	if f.sparse, err = sparse.NewRectangular(entries, nil, nil); err != nil {
		return f, err
	}
	f.arrays = f.sparse.Tensors()
	return f, nil
}

// times is X W^T for W, [d, m], with a gradient; nodes hold the arrays.
func (f features) times(w *Node, nodes []*Node) *Node {
	w = Transpose(w, 0, 1)
	if f.sparse == nil {
		return Dot(nodes[0], w).Product()
	}
	return f.sparse.On(nodes).Product(w)
}

// mapped is x w^T, [n, in] to [n, out], of the node features where x is nil.
func (b *Builder) mapped(x, w *Node) *Node {
	if x == nil {
		return b.Model.features.times(w, b.features)
	}
	return Dot(x, Transpose(w, 0, 1)).Product()
}
