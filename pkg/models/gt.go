package models

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	k := Kind{Name: "gt", Title: "GT", Check: checkHeads,
		Layer:     "Y = X + W softmax over neighbours(q·k) V + b, Y + FFN(LayerNorm(Y)); q, k, V of Z = LayerNorm(X)",
		Reference: "Shi et al., IJCAI 2021, ", New: func(Config) Network { return &platonov{messages: &gt{}} }}
	registerPlatonov(k, "heads")
	k.Name, k.Title = "gt-sep", "GT-sep"
	k.Layer = "Y = X + W [Z, softmax over neighbours(q·k) V] + b, Y + FFN(LayerNorm(Y)); q, k, V of Z = LayerNorm(X)"
	k.New = func(Config) Network { return &platonov{messages: &gt{separate: true}} }
	registerPlatonov(k, "heads")
}

// gt is the Graph Transformer (Shi et al., IJCAI 2021) in the network [platonov]. A layer has two modules, attention M_0
// with K heads and the perceptron M_1 = [feedForward]:
//
//	M_0(Z) = dropout(H W^T + b),  H = [H^(1) … H^(K)]               Z, H [n, d], W [d, d]
//	H^(a)  = A^(a) V^(a),  A^(a)_ij = softmax_j(q^(a)_j · k^(a)_i / sqrt(d'))    for head a, d' = d/K
//
// q, k and V, [n, d], are linear maps of Z, with the columns of head 1 first, then those of head 2, and so on. For "gt",
// the softmax is over node i and its neighbours j. For "gt-sep", it is over the neighbours alone, and M_0 has [Z, H],
// [n, 2d], in place of H; without neighbours, a row of H is 0.
//
// As in Platonov et al.'s code, the query belongs to the neighbour and the key to the node itself; most other code has
// these names the other way round.
type gt struct {
	separate bool
	pattern  *sparse.Pattern
}

func (t *gt) Prepare(g *graphs.Graph, a *Arrays) {
	adjacency := sparse.Adjacency(g)
	if !t.separate {
		adjacency = adjacency.WithSelfLoops()
	}
	t.pattern = a.Pattern(adjacency, sparse.PatternOptions{})
}

func (t *gt) modules() []module { return []module{t.attention, feedForward} }

// attention is M_0 of [gt].
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
