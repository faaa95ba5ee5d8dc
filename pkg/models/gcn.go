package models

import (
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	k := Kind{Name: "gcn", Title: "GCN",
		Layer:     "X + σ(Â X W + b), σ = ReLU, Â the adjacency with self loops, symmetrically normalised",
		Reference: "Kipf and Welling, ICLR 2017; paper section 3.3", Shared: plainSettings, Resolve: resolveHead,
		Check: checkRemedies,
		New:   func(c Config) Network { return newResidual(&gcn{Config: c}, layerIf(c, layers.GCN{})) }}
	Register(k)
	k.Name, k.Title, k.Plain, k.Shared, k.Suggested = "gcn+rep", "GCN+ReP", k.Name, reverseSettings, true
	Register(k)
}

// gcn makes the block of graph convolutions, h(X) = σ(Â X W + b), where Â is the normalised adjacency; see
// [layers.GCN]. With DropEdge, Â differs from one training step to the next.
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
	if c.matrix, err = sparse.NewMatrix(normalised(a, c.HalfHop > 0), nil); err != nil {
		return nil, nil, err
	}
	return c.matrix.Order(), c.matrix.Tensors(), nil
}

// normalised returns D^-1/2 A D^-1/2. D holds the degrees or, for directed edges, the numbers of each node's incoming
// edges.
func normalised(a *sparse.CSR, directed bool) *sparse.CSR {
	if directed {
		return normalisedByTargets(a)
	}
	return a.SymmetricNormalised()
}

func (c *gcn) block(b *Builder, arrays []*Node) (solve.Block, []*Node) {
	w := b.blockScaled(Transpose(b.weights(c.heads(1, c.glorot()))[0], 0, 1))
	layer := layers.GCN{Adjacency: c.matrix, Activation: layers.Activation(c.Activation)}
	weights := []*Node{w, b.bias(w)}
	if c.drop == nil {
		return layer, append(weights, arrays...)
	}
	last := len(arrays) - 1
	weights = append(weights, c.drop.normalised(b, arrays[:last], arrays[last]))
	return layers.WeightedGCN{GCN: layer, Pattern: c.drop.pattern}, append(weights, arrays[:last]...)
}
