package models

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	k := Kind{Name: "gcn", Title: "GCN",
		Layer:     "X + σ(Â X W + b), σ = ReLU, Â the adjacency with self loops, symmetrically normalised",
		Reference: "Kipf and Welling, ICLR 2017; paper section 3.3", Shared: plainSettings, Resolve: resolveHead,
		Check: checkRemedies,
		New:   residualOf(gcn)}
	Register(k)
	k.Name, k.Title, k.Plain, k.Shared, k.Suggested = "gcn+rep", "GCN+ReP", k.Name, reverseSettings, true
	Register(k)
}

// gcn is the block h(X) = σ(Â X W + b); see [layers.GCN]. With DropEdge, Â differs from one training step to the next.
func gcn(c Config, adjacency *sparse.CSR, a *Arrays) func(*Builder, *Node) chained {
	var normalised func(b *Builder) sparse.Operator
	if c.DropEdge > 0 {
		pattern := a.Pattern(adjacency, sparse.PatternOptions{Uses: sparse.ForLoopAttention})
		normalised = newDropEdge(adjacency, pattern, a).normalised
	} else {
		normalise := (*sparse.CSR).SymmetricNormalised
		if !adjacency.Symmetric() {
			normalise = normalisedByTargets
		}
		matrix := a.Matrix(normalise(adjacency))
		normalised = func(b *Builder) sparse.Operator { return b.Matrix(matrix) }
	}
	return func(b *Builder, h *Node) chained {
		w := b.blockScaled(Transpose(b.weights(c.heads(1, c.glorot()))[0], 0, 1))
		return dressed[layers.GCNWeights](b, h, layers.GCN{Activation: layers.Activation(c.Activation)},
			layers.GCNWeights{W: w, B: b.bias(w), A: normalised(b)})
	}
}

func init() {
	k := Kind{Name: "sage-res", Title: "SAGE, residual",
		Layer:     "X + σ(Â X W + X V + b), σ = ReLU: GCN's layer with a weight for the node itself, as in GraphSAGE",
		Reference: "Hamilton et al., NeurIPS 2017; docs/which-layer.md", Resolve: resolveHead,
		Shared: []string{"forward", "hidden", "dropout", "activation", "norm", "norm-layers", "norm-scale",
			"block-gate", "block-norm", "block-scale", "no-bias", "head-layers"},
		Defaults: func(c *Config) { c.Norm, c.Dropout = "batch", 0.2 },
		New:      residualOf(sageResidual)}
	Register(k)
	k.Name, k.Title, k.Plain, k.Shared = "sage+rep", "SAGE+ReP", k.Name, reverseSettings
	// docs/which-layer.md has the measurements that speak for these settings.
	k.Defaults = func(c *Config) {
		c.Forward, c.Reverse, c.Norm, c.Dropout = 1, 32, "batch", 0.2
		c.Lipschitz, c.Bound, c.Tolerance = 0.9, string(layers.SpectralNorm), 1e-3
	}
	Register(k)
}

// sageResidual is the block h(X) = σ(Â X W + X V + b); see [layers.SAGE].
func sageResidual(c Config, adjacency *sparse.CSR, a *Arrays) func(*Builder, *Node) chained {
	matrix := a.Matrix(adjacency.SymmetricNormalised())
	return func(b *Builder, h *Node) chained {
		w := b.weights(c.heads(1, c.glorot()), c.ego())
		weight, ego := b.blockScaled(Transpose(w[0], 0, 1)), b.blockScaled(Transpose(w[1], 0, 1))
		return dressed[layers.SAGEWeights](b, h, layers.SAGE{Activation: layers.Activation(c.Activation)},
			layers.SAGEWeights{W: weight, B: b.bias(weight), V: ego, A: b.Matrix(matrix)})
	}
}
