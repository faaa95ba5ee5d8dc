package models

import (
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	k := Kind{Name: "gat", Title: "GAT",
		Layer:     "X + σ(1/K Σ_k A_k(X) X W_k (+ X V) + b), σ = ReLU, A_k a softmax of LeakyReLU(s_j + t_i) over neighbours",
		Reference: "Veličković et al., ICLR 2018; paper section 3.3",
		Shared:    slices.Concat(plainSettings, []string{"heads", "ego"}), Resolve: resolveHead,
		New: func(c Config) Network { return newResidual(&gat{heads: c.Heads}, layers.GAT{}) }}
	Register(k)
	k.Name, k.Title, k.Plain, k.Shared = "gat+rep", "GAT+ReP", k.Name,
		slices.Concat(reverseSettings, []string{"heads", "ego"})
	Register(k)
}

// gat is graph attention with the heads averaged; see [layers.GAT].
type gat struct {
	heads   int
	pattern *sparse.Pattern
}

func (a *gat) Prepare(g *graphs.Graph) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	o := sparse.PatternOptions{Uses: sparse.ForLoopAttention, Heads: a.heads}
	if a.pattern, err = sparse.NewPattern(sparse.Adjacency(g).WithSelfLoops(), o); err != nil {
		return nil, nil, err
	}
	return a.pattern.Order(), a.pattern.Tensors(), nil
}

// block has its weights start as in PyTorch Geometric, uniform by Glorot and Bengio (2010): the matrix as one from d
// to K d, the attention vectors as one from K to d.
func (a *gat) block(b *Builder) (solve.Block, []*Node) {
	heads, d := b.Config.Heads, b.Config.Hidden
	limit := math.Sqrt(6 / float64(heads+d))
	source := b.Param(Param{Name: "stack.0.body.att_src", Shape: []int{1, heads, d}, Limit: limit})
	target := b.Param(Param{Name: "stack.0.body.att_dst", Shape: []int{1, heads, d}, Limit: limit})
	// [heads, out, in], as PyTorch has it.
	params := []Param{b.Config.heads(heads, math.Sqrt(6/float64(d+heads*d)))}
	if b.Config.Ego {
		params = append(params, b.Config.ego())
	}
	weights := b.weights(params...)
	w := Reshape(weights[0], heads, d, d)
	scores := func(v *Node) *Node { // W^(k) a: [heads, out, in] and [heads, out] to [in, heads]
		return Einsum("koi,ko->ik", w, Reshape(v, heads, d))
	}
	// [in, heads, out]
	values := DivScalar(Reshape(TransposeAllAxes(w, 2, 0, 1), d, heads*d), float64(heads))
	all := Concatenate([]*Node{values, scores(source), scores(target)}, 1)
	if b.Config.Ego {
		all = Concatenate([]*Node{all, Transpose(weights[1], 0, 1)}, 1)
	}
	layer := layers.GAT{Pattern: a.pattern, Activation: layers.Activation(b.Config.Activation), Ego: b.Config.Ego}
	return layer, append([]*Node{all, b.bias(w)}, b.Arrays...)
}
