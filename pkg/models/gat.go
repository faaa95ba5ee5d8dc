package models

import (
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	k := Kind{Name: "gat", Title: "GAT",
		Layer: "X + σ(1/K Σ_k A_k(X) X W_k (+ X V) + b), σ = ReLU, A_k a softmax of LeakyReLU(s_j + t_i) " +
			"over neighbours",
		Reference: "Veličković et al., ICLR 2018; paper section 3.3",
		Shared:    slices.Concat(plainSettings, []string{"heads", "ego"}), Resolve: resolveHead,
		Check: checkRemedies,
		New:   func(c Config) Network { return newResidual(&gat{Config: c}) }}
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
	// entry and image are for edges with directions: for each place, whether there is an edge, and its reverse.
	entry, image *tensors.Tensor
}

func (a *gat) settings() Config { return a.Config }

func (a *gat) prepare(edges *sparse.CSR) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	var entry, image []float32
	if !edges.Symmetric() {
		if edges, entry, image, err = withMirrorImages(edges); err != nil {
			return nil, nil, err
		}
	}
	o := sparse.PatternOptions{Uses: sparse.ForLoopAttention, Heads: a.Heads}
	if a.pattern, err = sparse.NewPattern(edges, o); err != nil {
		return nil, nil, err
	}
	arrays = slices.Clone(a.pattern.Tensors())
	if entry != nil {
		a.entry, a.image = a.atPlaces(entry), a.atPlaces(image)
		arrays = append(arrays, a.entry, a.image)
	}
	if a.DropEdge > 0 {
		a.drop = newDropEdge(edges, a.pattern)
		arrays = append(arrays, a.drop.numbers)
	}
	return a.pattern.Order(), arrays, nil
}

func (a *gat) atPlaces(values []float32) *tensors.Tensor {
	places := sparse.Spread(a.pattern, values, 1)
	return tensors.FromFlatDataAndDimensions(places, len(places), 1)
}

// layers makes the branch [layers.GAT], and declares its parameters. As in PyTorch Geometric, the weights start with
// uniform random numbers between -s and s, where s = sqrt(6/(in + out)) (Glorot and Bengio 2010). For the matrices of
// the K heads, "in" is d and "out" is K d, as for a linear map to all heads together. For the attention vectors, "in"
// is K and "out" is d.
func (a *gat) layers(b *Builder, h *Node) chained {
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
	weights := layers.GATWeights{Maps: all, B: b.bias(w), Edges: b.Edges(a.pattern).Bare()}
	switch {
	case a.entry != nil:
		weights.Edges = weights.Edges.Keeping(b.Array(a.entry))
		weights.Back = loop.Constant{Node: b.Array(a.image)}
	case a.drop != nil:
		weights.Edges = weights.Edges.Keeping(a.drop.keep(b))
	}
	layer := layers.GAT{Activation: layers.Activation(a.Activation), Ego: a.Ego}
	return dressed[layers.GATWeights](b, h, layer, weights)
}
