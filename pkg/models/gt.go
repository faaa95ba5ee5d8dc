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

// gt is the Graph Transformer (Shi et al., IJCAI 2021), which attends by dot products with neighbours, in the network
// [platonov]. A layer has two modules. There are K heads of width d' = d/K each, which stand side by side:
//
//	M_0(Z) = dropout(H W^T + b),  H = [H^(1) … H^(K)]               Z, H [n, d], W [d, d]
//	H^(k)  = A^(k) V^(k),  A^(k)_ij = softmax_j(q^(k)_j · k^(k)_i / sqrt(d'))
//	M_1(Z) = FFN(Z)
//
// FFN is [feedForward], and q, k, V are linear maps of Z with bias, whose columns are head by head. For "gt", the
// softmax is over i's neighbours j and i itself. For "gt-sep", it is over i's neighbours alone, and [Z, H], [n, 2d],
// takes the place of H, so that a node is told apart from its neighbours. H is then 0 for a node without neighbours.
//
// As in the authors' code, the query belongs to the neighbour and the key to the node itself. This is the usual formula
// with the two names exchanged, and thus the same model.
type gt struct {
	separate bool
	pattern  *sparse.Pattern
}

// Prepare lays out the neighbours of each node and, for "gt", the node itself.
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

// attention is M_0.
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
