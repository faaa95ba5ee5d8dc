package models

import (
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	k := Kind{Name: "sage-res", Title: "SAGE, residual",
		Layer:     "X + σ(Â X W + X V + b), σ = ReLU: GCN's layer with a weight for the node itself, as in GraphSAGE",
		Reference: "Hamilton et al., NeurIPS 2017; docs/which-layer.md", Shared: plainSettings, Resolve: resolveHead,
		Defaults: func(c *Config) { c.Norm, c.Dropout = "batch", 0.2 },
		New:      func(Config) Network { return newResidual(&sageResidual{}, layers.SAGE{}) }}
	Register(k)
	k.Name, k.Title, k.Plain, k.Shared = "sage+rep", "SAGE+ReP", k.Name, slices.Clone(reverseSettings)
	k.Defaults = sageReverseDefaults
	Register(k)
}

// sageReverseDefaults are one forward and many reverse layers, and a spectral bound with room for fast solves: some 4
// iterations a layer at c = 0.9, some 18 near 1.
func sageReverseDefaults(c *Config) {
	c.Forward, c.Reverse, c.Norm, c.Dropout = 1, 32, "batch", 0.2
	c.Lipschitz, c.Bound = 0.9, string(layers.SpectralNorm)
}

// sageResidual is the convolution h(H) = σ(Â H W + H V + b), which sees a node apart from its neighbours; see
// [layers.SAGE].
type sageResidual struct{ matrix *sparse.Matrix }

func (s *sageResidual) Prepare(g *graphs.Graph) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	if s.matrix, err = sparse.SymNorm(g); err != nil {
		return nil, nil, err
	}
	return s.matrix.Order(), s.matrix.Tensors(), nil
}

func (s *sageResidual) block(b *Builder) (solve.Block, []*Node) {
	w := b.weights(b.Config.heads(1, b.Config.glorot()), b.Config.ego())
	near := Transpose(w[0], 0, 1)
	layer := layers.SAGE{Adjacency: s.matrix, Activation: layers.Activation(b.Config.Activation)}
	return layer, append([]*Node{near, b.bias(near), Transpose(w[1], 0, 1)}, b.Arrays...)
}
