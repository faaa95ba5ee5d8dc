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

// gt is the Graph Transformer (Shi et al., IJCAI 2021) in the network [platonov]. Each layer has two modules, M_0 and
// M_1. M_0 is attention with K heads, whose scores are dot products. M_1 is the perceptron [feedForward]:
//
//	M_0(Z) = dropout(H W^T + b),  H = [H^(1) … H^(K)]               Z, H [n, d], W [d, d]
//	H^(a)  = A^(a) V^(a),  A^(a)_ij = softmax_j(q^(a)_j · k^(a)_i / sqrt(d'))    for head a
//	M_1(Z) = feedForward(Z)
//
// Z is the normalised input of the module. The arrays q, k and V, [n, d], are computed from Z by three linear maps with
// bias. Each head has d' = d/K columns of these arrays: the first d' columns belong to head 1, the next d' columns to
// head 2, and so on. q^(a), k^(a) and V^(a) are the columns of head a, and q^(a)_j is row j of q^(a). A^(a)_ij is the
// attention weight with which node i reads node j.
//
// For the model "gt", the softmax is over node i and its neighbours j. For the model "gt-sep", the softmax is over the
// neighbours alone, and M_0 has [Z, H], [n, 2d], in place of H. So "gt-sep" keeps a node's own row of Z separate from
// its row of H, which is computed from its neighbours. For a node without neighbours, this row of H is 0.
//
// As in Platonov et al.'s code, the query q belongs to the neighbour, and the key k belongs to the node itself. Most
// other code gives the key to the neighbour. This changes only the names of q and k, not the model.
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
	d, heads, edges := b.Config.Hidden, b.Config.Heads, b.Edges(t.pattern)
	query, key := b.Linear(name+"attn_query", z, d), b.Linear(name+"attn_key", z, d)
	scores := DivScalar(edges.Dots(key, query, heads), math.Sqrt(float64(d/heads)))
	h := edges.Attend(scores, b.Linear(name+"attn_value", z, d))
	if t.separate {
		h = Concatenate([]*Node{z, h}, -1)
	}
	return b.Dropout(b.Linear(name+"output_linear", h, d))
}
