package models

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// residual is the backbone of layers f(H) = H + h(H) with one block h shared by all (paper section 3.3), and of their
// inverses beside them.
type residual struct{ convolution }

// convolution is a block h, by the names of PyTorch Geometric's layers behind "stack.0.body.".
type convolution interface {
	adjacency(g *graphs.Graph) (sparse.Order, []*tensors.Tensor, error)
	params(c Config) []Param
	// block is h with its weights out of the store.
	block(m *Model, scope *model.Scope, adjacency []*Node) (solve.Block, []*Node)
}

func (residual) encoder() string { return "in_" }

func (residual) head(i, n int) string {
	if n == 1 {
		return "out"
	}
	return sequential("out", i)
}

func (r residual) represent(m *Model, scope *model.Scope, h *Node, adjacency []*Node) (*Node, *solve.Stats) {
	c := m.Config
	block, w := r.block(m, scope, adjacency)
	forward := solve.ForwardChain(block, h, w, c.Forward)
	if !c.HasReverse() {
		return forward, solve.NoStats(h)
	}
	chain := solve.ReverseChain
	if c.Adjoint == "unrolled" {
		chain = solve.ReverseChainUnrolled
	}
	reverse, stats := chain(block, h, w, c.Reverse, c.solves())
	return Concatenate([]*Node{forward, reverse}, 1), stats
}

// solves are the options of the reverse layers' solves.
func (c Config) solves() solve.Options {
	return solve.Options{Tolerance: c.Tolerance, MaxIterations: c.MaxIterations, Order: solve.DefaultOrder}
}

// roundTrip is what Forward layers and as many reverse layers of exactly MaxIterations iterations make of h, with the mean
// change in each iteration (see [solve.Profile]).
func (r residual) roundTrip(m *Model, scope *model.Scope, h *Node, adjacency []*Node) (end, changes *Node, stats *solve.Stats) {
	block, w := r.block(m, scope, adjacency)
	y := solve.ForwardChain(block, h, w, m.Config.Forward)
	end, changes = solve.Profile(block, y, w, m.Config.Forward, m.Config.MaxIterations)
	return end, changes, solve.NoStats(end)
}

// weightName is the name of a convolution's weight: PyTorch's reparametrisation calls the raw one "weight_orig".
func weightName(c Config) string {
	if c.HasReverse() && c.Normalise == "reparametrise" {
		return "stack.0.body.lin.weight_orig"
	}
	return "stack.0.body.lin.weight"
}

// weightParam is the convolution's weight, heads matrices [Hidden, Hidden] below each other; start is the limit of its
// uniform distribution.
func weightParam(c Config, heads int, limit float64) Param {
	p := Param{Name: weightName(c), Shape: []int{heads * c.Hidden, c.Hidden}, Limit: limit, Heads: heads}
	if c.HasReverse() {
		p.Bounded = c.Normalise == "project"
		p.StartNorm = startNorm(c)
	}
	return p
}

// weight is the convolution's weight, bounded where the model reparametrises it.
func (m *Model) weight(scope *model.Scope, g *Graph, heads int) *Node {
	w := m.value(scope, g, weightName(m.Config))
	if m.Config.HasReverse() && m.Config.Normalise == "reparametrise" {
		w = layers.Bound(w, heads, m.Config.Lipschitz)
	}
	return w
}

// biasName is the name of a convolution's bias.
const biasName = "stack.0.body.bias"

// biasParams is the convolution's bias, unless it has none.
func biasParams(c Config) []Param {
	if c.NoBias {
		return nil
	}
	return []Param{{Name: biasName, Shape: []int{c.Hidden}}}
}

// bias is the convolution's bias, zero where it has none.
func (m *Model) bias(scope *model.Scope, w *Node) *Node {
	if m.Config.NoBias {
		return BroadcastToDims(loop.Float(w, 0), m.Config.Hidden)
	}
	return m.value(scope, w.Graph(), biasName)
}

// startNorm is the Frobenius norm that the convolution's weight starts with: min(c, sqrt(d)/64), so that each layer starts
// close to the identity, as is usual in deep residual networks (Zhang, Dauphin and Ma, ICLR 2019). Reverse layers can grow
// what they are given: a random d x d matrix of norm s has eigenvalues up to about s/sqrt(d) (the circular law), and depth
// layers grow features by up to exp(depth s/sqrt(d)), beyond single precision for 1024 layers of width 64 at norm 1; from
// this start by at most exp(16). Adam moves the norm to the bound within some ten steps.
func startNorm(c Config) float64 {
	return min(c.Lipschitz, math.Sqrt(float64(c.Hidden))/64)
}

// gcn is the graph convolution h(H) = ReLU(Â H W + b); see [layers.GCN].
type gcn struct{ matrix *sparse.Matrix }

func (c *gcn) adjacency(g *graphs.Graph) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	if c.matrix, err = sparse.SymNorm(g); err != nil {
		return nil, nil, err
	}
	return c.matrix.Order(), c.matrix.Tensors(), nil
}

func (*gcn) params(c Config) []Param {
	return append(biasParams(c), weightParam(c, 1, math.Sqrt(3/float64(c.Hidden))))
}

func (c *gcn) block(m *Model, scope *model.Scope, adjacency []*Node) (solve.Block, []*Node) {
	w := Transpose(m.weight(scope, adjacency[0].Graph(), 1), 0, 1)
	return layers.GCN{Adjacency: c.matrix}, append([]*Node{w, m.bias(scope, w)}, adjacency...)
}
