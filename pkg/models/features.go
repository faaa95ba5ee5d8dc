package models

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// features are a graph's node features X, [n, m]: a dense array; or, if most entries are zero, a sparse matrix; or, if
// dropout acts on them, too, a pattern. arrays are those of X; with a pattern, the first has the entries, [places, 1].
type features struct {
	sparse  *sparse.Matrix
	pattern *sparse.Pattern
	arrays  []*tensors.Tensor
}

// dense is the share of entries other than zero from which on features are multiplied as a dense matrix. (On Chameleon,
// where one of 200 is not zero, the dense product took 16 % of GRAND's epochs.)
const dense = 1.0 / 16

// Sparse counts the entries other than zero, and tells whether features are multiplied as a sparse matrix. If all are
// zero, they are dense, since a sparse matrix without entries has no arrays, from which a network could be built.
func Sparse(g *graphs.Graph) (entries int, yes bool) {
	for _, v := range g.Features {
		if v != 0 {
			entries++
		}
	}
	return entries, entries > 0 && float64(entries) < dense*float64(len(g.Features))
}

// newFeatures lays out the node features; dropped says that dropout acts on them.
func newFeatures(g *graphs.Graph, order sparse.Order, dropped bool, layout sparse.Layout) (f features) {
	x := sparse.Permute(order, g.Features, g.NumFeatures)
	if _, yes := Sparse(g); !yes {
		return features{arrays: []*tensors.Tensor{tensors.FromFlatDataAndDimensions(x, g.NumNodes, g.NumFeatures)}}
	}
	entries := must(sparse.FromDense(x, g.NumFeatures))
	if dropped {
		f.pattern = must(sparse.NewPattern(entries, sparse.PatternOptions{Bipartite: true, Layout: layout}))
		values := sparse.Spread(f.pattern, entries.Weight, 1)
		f.arrays = append(f.arrays, tensors.FromFlatDataAndDimensions(values, len(values), 1))
		f.arrays = append(f.arrays, f.pattern.Tensors()...)
		return f
	}
	f.sparse = must(sparse.NewRectangular(entries, nil, nil, layout))
	f.arrays = f.sparse.Tensors()
	return f
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

// mapped is x w^T, where nil stands for the node features.
func (b *Builder) mapped(x, w *Node) *Node {
	if x == nil {
		return b.Encoded(w)
	}
	return times(x, w)
}
