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
		New:   residualOf(gat)}
	Register(k)
	k.Name, k.Title, k.Plain, k.Shared = "gat+rep", "GAT+ReP", k.Name,
		slices.Concat(reverseSettings, []string{"heads", "ego"})
	Register(k)
}

// gat is the block of graph attention layers, which average the results of their heads; see [layers.GAT]. As in PyTorch
// Geometric, weights start uniform in ±sqrt(6/(in + out)) (Glorot and Bengio 2010): for the K heads' matrices, in = d and
// out = K d; for the attention vectors, in = K and out = d.
func gat(c Config, edges *sparse.CSR, arrays *Arrays) func(*Builder, *Node) chained {
	var entry, image []float32 // for edges with directions: whether there is an edge, and its reverse
	directed := !edges.Symmetric()
	if directed {
		edges, entry, image = withMirrorImages(edges)
	}
	pattern := arrays.Pattern(edges, sparse.PatternOptions{Uses: sparse.ForLoopAttention, Heads: c.Heads})
	keep := func(b *Builder, w *layers.GATWeights) {}
	atPlaces := func(values []float32) *tensors.Tensor {
		places := sparse.Spread(pattern, values, 1)
		return arrays.Add(tensors.FromFlatDataAndDimensions(places, len(places), 1))
	}
	switch {
	case directed:
		entries, images := atPlaces(entry), atPlaces(image)
		keep = func(b *Builder, w *layers.GATWeights) {
			w.Edges, w.Back = w.Edges.Keeping(b.Array(entries)), loop.Constant{Node: b.Array(images)}
		}
	case c.DropEdge > 0:
		drop := newDropEdge(edges, pattern, arrays)
		keep = func(b *Builder, w *layers.GATWeights) { w.Edges = w.Edges.Keeping(drop.keep(b)) }
	}
	return func(b *Builder, h *Node) chained {
		w := gatWeights(b)
		w.Edges = b.Edges(pattern).Bare()
		keep(b, &w)
		layer := layers.GAT{Activation: layers.Activation(c.Activation), Ego: c.Ego}
		return dressed[layers.GATWeights](b, h, layer, w)
	}
}

// gatWeights declares the parameters of [gat].
func gatWeights(b *Builder) layers.GATWeights {
	heads, d := b.Config.Heads, b.Config.Hidden
	limit := math.Sqrt(6 / float64(heads+d))
	source := b.Param(Param{Name: "stack.0.body.att_src", Shape: []int{1, heads, d}, Limit: limit})
	target := b.Param(Param{Name: "stack.0.body.att_dst", Shape: []int{1, heads, d}, Limit: limit})
	params := []Param{b.Config.heads(heads, math.Sqrt(6/float64(d+heads*d)))}
	if b.Config.Ego {
		params = append(params, b.Config.ego())
	}
	matrices := b.weights(params...)
	w := Reshape(matrices[0], heads, d, d) // [heads, out, in]
	// scores has W_k v_k as column k, for W_k, [in, out], the transpose of w[k], and row k of v.
	scores := func(v *Node) *Node {
		return Einsum("koi,ko->ik", w, Reshape(v, heads, d))
	}
	// values has the W_k side by side, [in, heads*out]. Divided by K, the sum over heads in layers.GAT is their mean.
	values := b.blockScaled(DivScalar(Reshape(TransposeAllAxes(w, 2, 0, 1), d, heads*d), float64(heads)))
	all := Concatenate([]*Node{values, scores(source), scores(target)}, 1)
	if b.Config.Ego {
		all = Concatenate([]*Node{all, b.blockScaled(Transpose(matrices[1], 0, 1))}, 1)
	}
	return layers.GATWeights{Maps: all, B: b.bias(w)}
}
