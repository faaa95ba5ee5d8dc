package models

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	k := Kind{Name: "gt", Title: "GT", Check: checkHeads,
		Layer:     "Y = X + W softmax over neighbours(q·k) V + b, Y + FFN(LayerNorm(Y)); q, k, V of Z = LayerNorm(X)",
		Reference: "Shi et al., IJCAI 2021, "}
	registerPlatonov(k, func() messages { return &gt{} }, "heads")
	k.Name, k.Title = "gt-sep", "GT-sep"
	k.Layer = "Y = X + W [Z, softmax over neighbours(q·k) V] + b, Y + FFN(LayerNorm(Y)); q, k, V of Z = LayerNorm(X)"
	registerPlatonov(k, func() messages { return &gt{separate: true} }, "heads")
}

// gt is the Graph Transformer (Shi et al., IJCAI 2021) in the network [platonov]. It attends to neighbours by dot
// products. A layer has two modules, M_0 and M_1. There are K heads. Each has d' = d/K columns of H:
//
//	M_0(Z) = dropout(H W^T + b),  H = [H^(1) … H^(K)]               Z, H [n, d], W [d, d]
//	H^(a)  = A^(a) V^(a),  A^(a)_ij = softmax_j(q^(a)_j · k^(a)_i / sqrt(d'))    for head a
//	M_1(Z) = FFN(Z)
//
// Z is the normalised input of the module. FFN is [feedForward]. q, k and V, [n, d], are linear maps of Z with bias.
// Their columns are head by head: first those of head 1, then those of head 2, and so on. For the model "gt", the
// softmax is over i's neighbours j and i itself. For "gt-sep", the softmax is over i's neighbours alone, and M_0 has
// [Z, H], [n, 2d], in place of H. This keeps a node's own row Z separate from H, which is 0 for a node without
// neighbours.
//
// As in Platonov et al.'s code, the query q belongs to the neighbour, and the key k to the node itself. Usually the key
// belongs to the neighbour. This changes only the names of q and k, not the model.
type gt struct {
	separate bool
	pattern  *sparse.Pattern
}

// Prepare makes the pattern of the edges. For "gt", the pattern also has self loops.
func (t *gt) Prepare(g *graphs.Graph) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	a := sparse.Adjacency(g)
	if !t.separate {
		a = a.WithSelfLoops()
	}
	if t.pattern, err = sparse.NewPattern(a, sparse.PatternOptions{}); err != nil {
		return nil, nil, err
	}
	return t.pattern.Order(), t.pattern.Tensors(), nil
}

func (t *gt) modules() []module { return []module{t.attention, feedForward} }

// attention is the first module of a layer, M_0 of [gt].
func (t *gt) attention(b *Builder, name string, z *Node) *Node {
	d, heads, edges := b.Config.Hidden, b.Config.Heads, t.pattern.On(b.Arrays)
	query, key := b.Linear(name+"attn_query", z, d), b.Linear(name+"attn_key", z, d)
	scores := DivScalar(edges.Dots(key, query, heads), math.Sqrt(float64(d/heads)))
	h := edges.Attend(scores, b.Linear(name+"attn_value", z, d))
	if t.separate {
		h = Concatenate([]*Node{z, h}, -1)
	}
	return b.Dropout(b.Linear(name+"output_linear", h, d))
}
