package models

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// gat is graph attention with the heads averaged; see [layers.GAT].
type gat struct {
	heads   int
	pattern *sparse.Pattern
}

func (a *gat) adjacency(g *graphs.Graph) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	o := sparse.PatternOptions{Uses: sparse.ForLoopAttention, Heads: a.heads}
	if a.pattern, err = sparse.NewPattern(sparse.Adjacency(g).WithSelfLoops(), o); err != nil {
		return nil, nil, err
	}
	return a.pattern.Order(), a.pattern.Tensors(), nil
}

// params start as in PyTorch Geometric, uniform by Glorot and Bengio (2010): the matrix as one from d to K d, the attention
// vectors as one from K to d.
func (*gat) params(c Config) []Param {
	d, heads := float64(c.Hidden), float64(c.Heads)
	attention := math.Sqrt(6 / (heads + d))
	list := []Param{
		{Name: "stack.0.body.att_src", Shape: []int{1, c.Heads, c.Hidden}, Limit: attention},
		{Name: "stack.0.body.att_dst", Shape: []int{1, c.Heads, c.Hidden}, Limit: attention},
	}
	return append(append(list, biasParams(c)...), weightParam(c, c.Heads, math.Sqrt(6/(d+heads*d))))
}

func (a *gat) block(m *Model, scope *model.Scope, adjacency []*Node) (solve.Block, []*Node) {
	g := adjacency[0].Graph()
	heads, d := m.Config.Heads, m.Config.Hidden
	// [heads, out, in], as PyTorch has it.
	w := Reshape(m.weight(scope, g, heads), heads, d, d)
	scores := func(name string) *Node { // W^(k) a: [heads, out, in] and [heads, out] to [in, heads]
		return Einsum("koi,ko->ik", w, Reshape(m.value(scope, g, "stack.0.body."+name), heads, d))
	}
	// [in, heads, out]
	values := DivScalar(Reshape(TransposeAllAxes(w, 2, 0, 1), d, heads*d), float64(heads))
	all := Concatenate([]*Node{values, scores("att_src"), scores("att_dst")}, 1)
	return layers.GAT{Pattern: a.pattern}, append([]*Node{all, m.bias(scope, w)}, adjacency...)
}
