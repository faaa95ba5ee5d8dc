package models

import (
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	registerPlatonov(Kind{Name: "gat-sep", Title: "GAT-sep", Check: checkHeads,
		Layer:     "X + FFN([Y, A Y]), A a softmax of LeakyReLU(u_j + v_i) over neighbours, Y = W LayerNorm(X) + b",
		Reference: "Veličković et al., ICLR 2018, "}, func() messages { return &gatSep{} }, "heads")
}

// gatSep is GAT (Veličković et al., ICLR 2018) in the network [platonov], whose layers have one module M each. A node's
// own row of Y is kept separate from its row of H, which comes from its neighbours. There are K heads. Each has d' =
// d/K columns of Y and of H:
//
//	M(Z)  = FFN([Y, H]),  H = [H^(1) … H^(K)]                       Z, Y, H [n, d]
//	H^(k) = A^(k) Y^(k),  A^(k)_ij = softmax_j(LeakyReLU(u^(k)_j + v^(k)_i))
//
// Z is the normalised input of the layer. The softmax is over i's neighbours j, without i itself. FFN is [feedForward],
// Y is a linear map of Z, and u and v, [n, K], are linear maps of Y. LeakyReLU has the slope 0.2 for negative
// arguments. H is 0 for a node without neighbours.
//
// As in Platonov et al.'s code, column a K + k of Y is feature a of head k, where a and k count from 0. The linear map
// that gives u has a bias, and the one that gives v has none.
type gatSep struct{ pattern *sparse.Pattern }

// Prepare makes the pattern of the edges, without self loops.
func (s *gatSep) Prepare(g *graphs.Graph) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	if s.pattern, err = sparse.NewPattern(sparse.Adjacency(g), sparse.PatternOptions{}); err != nil {
		return nil, nil, err
	}
	return s.pattern.Order(), s.pattern.Tensors(), nil
}

func (s *gatSep) modules() []module {
	return []module{func(b *Builder, name string, z *Node) *Node {
		d, heads := b.Config.Hidden, b.Config.Heads
		// The method Attend needs Y's columns head by head: see [byHead]. Reordering the weights is cheaper than
		// reordering Y.
		columns := func(w *Node) *Node { return byHead(w, 1, d, heads) }
		w, bias := b.linear(name+"input_linear", d, d)
		y := affine(z, byHead(w, 0, d, heads), byHead(bias, 0, d, heads))
		w, bias = b.linear(name+"attn_linear_u", d, heads)
		u := affine(y, columns(w), bias)
		v := times(y, columns(b.matrix(name+"attn_linear_v", d, heads)))
		edges := s.pattern.On(b.Arrays)
		h := edges.Attend(additive(edges, u, v), y)
		return feedForwardOf(b, name+"feed_forward_module.", Concatenate([]*Node{y, h}, -1), columns)
	}}
}

// byHead reorders an axis of a parameter, for K heads. Before, entry a K + k is feature a of head k ("feature by
// feature"). Afterwards, the features of head 0 come first, then those of head 1, and so on ("head by head"). If the
// axis consists of several parts of d entries, each part is reordered by itself.
func byHead(w *Node, axis, d, heads int) *Node {
	dims := w.Shape().Dimensions
	split := slices.Concat(dims[:axis], []int{dims[axis] / d, d / heads, heads}, dims[axis+1:])
	return Reshape(Transpose(Reshape(w, split...), axis+1, axis+2), dims...)
}
