package models

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// features holds a graph's node features X, [n, m], where m is the number of features of a node. The field arrays holds
// the arrays of X. There are three forms:
//
//   - A dense X is a single array. The fields sparse and pattern are nil.
//   - If most entries of X are zero and dropout does not act on X, the field sparse is the sparse matrix X, and arrays
//     holds its arrays.
//   - If most entries of X are zero and dropout acts on X, the field pattern is the pattern of the entries that are not
//     zero. The first array, [places, 1], holds the values of these entries, and the pattern's arrays follow.
type features struct {
	sparse  *sparse.Matrix
	pattern *sparse.Pattern
	arrays  []*tensors.Tensor
}

// dense is a limit for the share of node features that are not zero. From this share on, the features are multiplied as
// a dense matrix. Below it, they are multiplied as a sparse matrix, which saves time. (On Chameleon, a node has 2325
// features, and one in 200 of them is not zero. There, the product with the dense matrix and its derivative took 16 %
// of the time of GRAND's epochs.)
const dense = 1.0 / 16

// Sparse counts the node features that are not zero, and tells whether they are so few that models multiply them as a
// sparse matrix.
func Sparse(g *graphs.Graph) (entries int, yes bool) {
	for _, v := range g.Features {
		if v != 0 {
			entries++
		}
	}
	return entries, float64(entries) < dense*float64(len(g.Features))
}

// newFeatures lays out the node features; dropped says that dropout acts on them.
func newFeatures(g *graphs.Graph, order sparse.Order, dropped bool) (f features, err error) {
	x := sparse.Permute(order, g.Features, g.NumFeatures)
	if _, yes := Sparse(g); !yes {
		return features{arrays: []*tensors.Tensor{tensors.FromFlatDataAndDimensions(x, g.NumNodes, g.NumFeatures)}},
			nil
	}
	entries, err := sparse.FromDense(x, g.NumFeatures)
	if err != nil {
		return f, err
	}
	if dropped && entries.Entries() > 0 {
		f.pattern, err = sparse.NewPattern(entries, sparse.PatternOptions{Bipartite: true})
		if err != nil {
			return f, err
		}
		values := sparse.Spread(f.pattern, entries.Weight, 1)
		f.arrays = append(f.arrays, tensors.FromFlatDataAndDimensions(values, len(values), 1))
		f.arrays = append(f.arrays, f.pattern.Tensors()...)
		return f, nil
	}
	if f.sparse, err = sparse.NewRectangular(entries, nil, nil); err != nil {
		return f, err
	}
	f.arrays = f.sparse.Tensors()
	return f, nil
}

// dropped applies dropout to the arrays of the features.
func (f features) dropped(b *Builder, nodes []*Node) []*Node {
	if f.sparse != nil { // all features are zero, and nothing has to be dropped
		return nodes
	}
	return append([]*Node{b.Dropout(nodes[0])}, nodes[1:]...)
}

// times is X W^T for a weight [d, m], with a gradient for W alone.
func (f features) times(w *Node, nodes []*Node) *Node {
	w = Transpose(w, 0, 1)
	switch {
	case f.sparse != nil:
		return f.sparse.On(nodes).Product(w)
	case f.pattern != nil:
		x, p := nodes[0], f.pattern.On(nodes[1:]).Bare()
		return loop.Custom(p.Product(x, StopGradient(w)), []*Node{w}, func(v *Node) []*Node {
			return []*Node{p.TransposedProduct(p.Transpose(x), v)}
		})
	}
	return Dot(nodes[0], w).Product()
}

// denseFeatures are the node features, or nil if they are laid out as sparse.
func (b *Builder) denseFeatures() *Node {
	if f := b.Model.features; f.sparse != nil || f.pattern != nil {
		return nil
	}
	return b.features[0]
}

// mapped is x w^T, where nil stands for the node features.
func (b *Builder) mapped(x, w *Node) *Node {
	if x == nil {
		return b.Encoded(w)
	}
	return times(x, w)
}
