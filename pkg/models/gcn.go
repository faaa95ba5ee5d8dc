package models

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	k := Kind{Name: "gcn", Title: "GCN",
		Layer:     "X + ReLU(Â X W + b), Â the adjacency with self loops, symmetrically normalised",
		Reference: "Kipf and Welling, ICLR 2017; paper section 3.3", Shared: plainSettings, Resolve: resolveHead,
		New: func(Config) Network { return newResidual(&gcn{}, layers.GCN{}) }}
	Register(k)
	k.Name, k.Title, k.Plain, k.Shared, k.Suggested = "gcn+rep", "GCN+ReP", k.Name, reverseSettings, true
	Register(k)
}

// gcn is the graph convolution h(H) = ReLU(Â H W + b); see [layers.GCN].
type gcn struct{ matrix *sparse.Matrix }

func (c *gcn) Prepare(g *graphs.Graph) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	if c.matrix, err = sparse.SymNorm(g); err != nil {
		return nil, nil, err
	}
	return c.matrix.Order(), c.matrix.Tensors(), nil
}

// block has the weight start as in PyTorch Geometric, uniform in ±sqrt(6/(in+out)) (Glorot and Bengio 2010).
func (c *gcn) block(b *Builder) (solve.Block, []*Node) {
	w := Transpose(b.weight(1, math.Sqrt(3/float64(b.Config.Hidden))), 0, 1)
	return layers.GCN{Adjacency: c.matrix}, append([]*Node{w, b.bias(w)}, b.Arrays...)
}
