package models

import (
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	k := Kind{Name: "gcn", Title: "GCN",
		Layer:     "X + σ(Â X W + b), σ = ReLU, Â the adjacency with self loops, symmetrically normalised",
		Reference: "Kipf and Welling, ICLR 2017; paper section 3.3", Shared: plainSettings, Resolve: resolveHead,
		Check: checkRemedies,
		New:   func(c Config) Network { return newResidual(&gcn{Config: c}) }}
	Register(k)
	k.Name, k.Title, k.Plain, k.Shared, k.Suggested = "gcn+rep", "GCN+ReP", k.Name, reverseSettings, true
	Register(k)
}

// gcn makes the branch h(X) = σ(Â X W + b), where Â is the normalised adjacency; see [layers.GCN]. With DropEdge, Â
// differs from one training step to the next.
type gcn struct {
	Config
	matrix *sparse.Matrix
	drop   *dropEdge
}

func (c *gcn) settings() Config { return c.Config }

func (c *gcn) prepare(a *sparse.CSR) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	if c.DropEdge > 0 {
		pattern, err := sparse.NewPattern(a, sparse.PatternOptions{Uses: sparse.ForLoopAttention})
		if err != nil {
			return nil, nil, err
		}
		c.drop = newDropEdge(a, pattern)
		return pattern.Order(), append(slices.Clone(pattern.Tensors()), c.drop.numbers), nil
	}
	normalised := a.SymmetricNormalised()
	if !a.Symmetric() {
		normalised = normalisedByTargets(a)
	}
	if c.matrix, err = sparse.NewMatrix(normalised, nil); err != nil {
		return nil, nil, err
	}
	return c.matrix.Order(), c.matrix.Tensors(), nil
}

func (c *gcn) layers(b *Builder, h *Node) chained {
	w := b.blockScaled(Transpose(b.weights(c.heads(1, c.glorot()))[0], 0, 1))
	weights := layers.GCNWeights{W: w, B: b.bias(w)}
	if c.drop == nil {
		weights.A = b.Matrix(c.matrix)
	} else {
		weights.A = c.drop.normalised(b)
	}
	return dressed[layers.GCNWeights](b, h, layers.GCN{Activation: layers.Activation(c.Activation)}, weights)
}
