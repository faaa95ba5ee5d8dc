package models

import (
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	k := Kind{Name: "sage-res", Title: "SAGE, residual",
		Layer:     "X + σ(Â X W + X V + b), σ = ReLU: GCN's layer with a weight for the node itself, as in GraphSAGE",
		Reference: "Hamilton et al., NeurIPS 2017; docs/which-layer.md", Resolve: resolveHead,
		Shared: []string{"forward", "hidden", "dropout", "activation", "norm", "norm-layers", "norm-scale",
			"block-gate", "block-norm", "block-scale", "no-bias", "head-layers"},
		Defaults: func(c *Config) { c.Norm, c.Dropout = "batch", 0.2 },
		New:      func(c Config) Network { return newResidual(&sageResidual{Config: c}) }}
	Register(k)
	k.Name, k.Title, k.Plain, k.Shared = "sage+rep", "SAGE+ReP", k.Name, slices.Clone(reverseSettings)
	k.Defaults = sageReverseDefaults
	Register(k)
}

// sageReverseDefaults sets the defaults of sage+rep: one forward layer, many reverse layers, the bound c = 0.9 on the
// spectral norm, and the tolerance 1e-3. docs/which-layer.md has the measurements that speak for these settings.
func sageReverseDefaults(c *Config) {
	c.Forward, c.Reverse, c.Norm, c.Dropout = 1, 32, "batch", 0.2
	c.Lipschitz, c.Bound, c.Tolerance = 0.9, string(layers.SpectralNorm), 1e-3
}

// sageResidual is the convolution h(H) = σ(Â H W + H V + b). V multiplies the features of the node itself; see
// [layers.SAGE].
type sageResidual struct {
	Config
	matrix *sparse.Matrix
}

func (s *sageResidual) settings() Config { return s.Config }

func (s *sageResidual) prepare(a *sparse.CSR) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	if s.matrix, err = sparse.NewMatrix(a.SymmetricNormalised(), nil); err != nil {
		return nil, nil, err
	}
	return s.matrix.Order(), s.matrix.Tensors(), nil
}

func (s *sageResidual) layers(b *Builder, h *Node) chained {
	w := b.weights(s.heads(1, s.glorot()), s.ego())
	weight, ego := b.blockScaled(Transpose(w[0], 0, 1)), b.blockScaled(Transpose(w[1], 0, 1))
	return dressed[layers.SAGEWeights](b, h, layers.SAGE{Activation: layers.Activation(s.Activation)},
		layers.SAGEWeights{W: weight, B: b.bias(weight), V: ego, A: b.Matrix(s.matrix)})
}
