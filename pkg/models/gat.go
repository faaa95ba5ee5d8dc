package models

import (
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	k := Kind{Name: "gat", Title: "GAT",
		Layer: "X + σ(1/K Σ_k A_k(X) X W_k (+ X V) + b), σ = ReLU, A_k a softmax of LeakyReLU(s_j + t_i) " +
			"over neighbours",
		Reference: "Veličković et al., ICLR 2018; paper section 3.3",
		Shared:    slices.Concat(plainSettings, []string{"heads", "ego"}), Resolve: resolveHead,
		Check: checkRemedies,
		New:   func(c Config) Network { return newResidual(&gat{Config: c}, layerIf(c, layers.GAT{})) }}
	Register(k)
	k.Name, k.Title, k.Plain, k.Shared = "gat+rep", "GAT+ReP", k.Name,
		slices.Concat(reverseSettings, []string{"heads", "ego"})
	Register(k)
}

// gat makes the block of graph attention layers, which average the results of their heads; see [layers.GAT].
type gat struct {
	Config
	pattern *sparse.Pattern
	drop    *dropEdge
}

func (a *gat) settings() Config { return a.Config }

func (a *gat) prepare(adjacency *sparse.CSR) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	edges, more := adjacency, [][]float32(nil)
	if a.HalfHop > 0 { // Half-Hop makes edges with directions
		more = make([][]float32, 2)
		if edges, more[0], more[1], err = withMirrorImages(adjacency); err != nil {
			return nil, nil, err
		}
	}
	o := sparse.PatternOptions{Uses: sparse.ForLoopAttention, Heads: a.Heads}
	if a.pattern, err = sparse.NewPattern(edges, o); err != nil {
		return nil, nil, err
	}
	arrays = slices.Clone(a.pattern.Tensors())
	for _, values := range more {
		places := sparse.Spread(a.pattern, values, 1)
		arrays = append(arrays, tensors.FromFlatDataAndDimensions(places, len(places), 1))
	}
	if a.DropEdge > 0 {
		a.drop = newDropEdge(edges, a.pattern)
		arrays = append(arrays, a.drop.numbers)
	}
	return a.pattern.Order(), arrays, nil
}

// block makes the block [layers.GAT], and declares its parameters. As in PyTorch Geometric, the weights start with
// uniform random numbers between -s and s, where s = sqrt(6/(in + out)) (Glorot and Bengio 2010). For the matrices of
// the K heads, "in" is d and "out" is K d, as for a linear map to all heads together. For the attention vectors, "in"
// is K and "out" is d.
func (a *gat) block(b *Builder, arrays []*Node) (solve.Block, []*Node) {
	heads, d := b.Config.Heads, b.Config.Hidden
	limit := math.Sqrt(6 / float64(heads+d))
	source := b.Param(Param{Name: "stack.0.body.att_src", Shape: []int{1, heads, d}, Limit: limit})
	target := b.Param(Param{Name: "stack.0.body.att_dst", Shape: []int{1, heads, d}, Limit: limit})
	// This parameter holds the matrices of all heads, one below the other: [heads*out, in].
	params := []Param{b.Config.heads(heads, math.Sqrt(6/float64(d+heads*d)))}
	if b.Config.Ego {
		params = append(params, b.Config.ego())
	}
	matrices := b.weights(params...)
	w := Reshape(matrices[0], heads, d, d)
	// scores returns W_k v_k for each head k, as column k of the result. W_k, [in, out], is the weight of head k, which
	// is the transpose of w[k]. The vector v_k is the attention vector of head k, which is row k of v.
	scores := func(v *Node) *Node {
		return Einsum("koi,ko->ik", w, Reshape(v, heads, d))
	}
	// values holds the weights of all heads side by side, [in, heads*out], as [layers.GAT] reads them. To make it, w is
	// transposed from [heads, out, in] to [in, heads, out] and then reshaped. The weights are divided by the number of
	// heads: [layers.GAT] adds up the results of the heads, and the sum should be their mean.
	values := b.blockScaled(DivScalar(Reshape(TransposeAllAxes(w, 2, 0, 1), d, heads*d), float64(heads)))
	all := Concatenate([]*Node{values, scores(source), scores(target)}, 1)
	if a.Ego {
		all = Concatenate([]*Node{all, b.blockScaled(Transpose(matrices[1], 0, 1))}, 1)
	}
	layer := layers.GAT{Pattern: a.pattern, Activation: layers.Activation(a.Activation), Ego: a.Ego}
	weights := []*Node{all, b.bias(w)}
	switch n := len(a.pattern.Tensors()); {
	case a.HalfHop > 0:
		weights = append(weights, a.pattern.Keeping(arrays[:n], arrays[n])...)
		layer.Directed = true
		return layer, append(weights, arrays[n+1])
	case a.DropEdge > 0:
		arrays = a.pattern.Keeping(arrays[:n], a.drop.keep(b, arrays[n]))
	}
	return layer, append(weights, arrays...)
}
