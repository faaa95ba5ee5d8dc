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

// gatSep is GAT (Veličković et al., ICLR 2018) in the network [platonov]. Each layer of this network has one module,
// the function M. A linear map of the module's input Z gives features Y, and attention computes features H of each node
// from its neighbours' rows of Y. M then reads Y and H side by side, so that a node's own features stay separate from
// those of its neighbours. Each of the K heads has d/K columns of Y and d/K columns of H, which are Y^(k) and H^(k) for
// head k:
//
//	M(Z)  = FFN([Y, H]),  H = [H^(1) … H^(K)]                       Z, Y, H [n, d]
//	H^(k) = A^(k) Y^(k),  A^(k)_ij = softmax_j(LeakyReLU(u^(k)_j + v^(k)_i))
//
// Z is the normalised input of the layer. FFN is [feedForward]. The arrays u and v, [n, K], are linear maps of Y, with
// one column for each head: u^(k) and v^(k) are these columns. The softmax is over i's neighbours j, without i itself.
// H is 0 for a node without neighbours. LeakyReLU has the slope 0.2 for negative arguments.
//
// As in Platonov et al.'s code, the linear map that gives u has a bias, and the one that gives v has none. The order of
// the parameters is also that of their code, where column a K + k of Y is feature a of head k. Here a and k count from
// 0.
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
		// The method Attend needs the columns of y in the order of the heads: first all columns of head 0, then all
		// columns of head 1, and so on. The parameters are for another order of y's columns. Therefore [byHead]
		// reorders the parameters, which is cheaper than reordering y.
		columns := func(w *Node) *Node { return byHead(w, 1, d, heads) }
		w, bias := b.linear(name+"input_linear", d, d)
		y := affine(z, byHead(w, 0, d, heads), byHead(bias, 0, d, heads))
		w, bias = b.linear(name+"attn_linear_u", d, heads)
		u := affine(y, columns(w), bias)
		v := times(y, columns(b.matrix(name+"attn_linear_v", d, heads)))
		edges := b.Edges(s.pattern)
		h := edges.Attend(additive(edges, u, v), y)
		return feedForwardOf(b, name+"feed_forward_module.", Concatenate([]*Node{y, h}, -1), columns)
	}}
}

// byHead reorders one axis of a parameter. The argument heads is the number K of attention heads. Before, entry a K + k
// of the axis is feature a of head k, where a and k count from 0. Afterwards, all features of head 0 come first, then
// all features of head 1, and so on. If the axis is longer than d, it consists of several parts of d entries, and each
// part is reordered by itself.
func byHead(w *Node, axis, d, heads int) *Node {
	dims := w.Shape().Dimensions
	split := slices.Concat(dims[:axis], []int{dims[axis] / d, d / heads, heads}, dims[axis+1:])
	return Reshape(Transpose(Reshape(w, split...), axis+1, axis+2), dims...)
}
