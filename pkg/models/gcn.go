package models

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	k := Kind{Name: "gcn", Title: "GCN",
		Layer:     "X + σ(Â X W + b), σ = ReLU, Â the adjacency with self loops, symmetrically normalised",
		Reference: "Kipf and Welling, ICLR 2017; paper section 3.3", Shared: plainSettings, Resolve: resolveHead,
		New: func(Config) Network { return newResidual(&gcn{}, layers.GCN{}) }}
	Register(k)
	k.Name, k.Title, k.Plain, k.Shared, k.Suggested = "gcn+rep", "GCN+ReP", k.Name, reverseSettings, true
	Register(k)
}

// gcn is the graph convolution h(H) = σ(Â H W + b); see [layers.GCN].
type gcn struct{ matrix *sparse.Matrix }

func (c *gcn) Prepare(g *graphs.Graph) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	if c.matrix, err = sparse.SymNorm(g); err != nil {
		return nil, nil, err
	}
	return c.matrix.Order(), c.matrix.Tensors(), nil
}

func (c *gcn) block(b *Builder) (solve.Block, []*Node) {
	w := Transpose(b.weights(b.Config.heads(1, b.Config.glorot()))[0], 0, 1)
	layer := layers.GCN{Adjacency: c.matrix, Activation: layers.Activation(b.Config.Activation)}
	return layer, append([]*Node{w, b.bias(w)}, b.Arrays...)
}
