package models

import (
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// residual is the network of layers f(H) = H + h(H) with one block h shared by all (paper section 3.3), and of
// their inverses beside them.
type residual struct {
	frame
	chain *chain
	layer any
}

// newResidual makes the network of a convolution, whose block is of the type of layer.
func newResidual(conv convolution, layer any) residual {
	c := &chain{convolution: conv}
	return residual{frame{c}, c, layer}
}

// Layer implements [Layered].
func (r residual) Layer() any { return r.layer }

// chain is its backbone.
type chain struct {
	convolution
	slow   *halfHop // nil without slow nodes
	arrays int      // of the convolution
}

// convolution is a block h, by the names of PyTorch Geometric's layers behind "stack.0.body.".
type convolution interface {
	// settings are the network's.
	settings() Config
	// prepare lays out an adjacency with self loops, whose edges have directions where there are slow nodes.
	prepare(a *sparse.CSR) (sparse.Order, []*tensors.Tensor, error)
	// block is h with its weights out of the store, and the arrays of prepare.
	block(b *Builder, arrays []*Node) (solve.Block, []*Node)
}

// The shared settings of residual networks, without reverse layers and with them.
var (
	plainSettings = append([]string{"forward", "hidden", "dropout", "activation", "norm", "block-gate", "block-norm",
		"block-scale", "no-bias", "head-layers"}, remedies...)
	reverseSettings = []string{"forward", "reverse", "hidden", "dropout", "activation", "lipschitz", "bound",
		"normalise", "tolerance", "max-iterations", "adjoint", "norm", "block-gate", "block-norm",
		"block-scale", "no-bias", "head-layers"}
)

// resolveHead has the head of as many layers as the authors' networks: 1 with reverse layers, 2 without.
func resolveHead(c *Config) {
	if c.HeadLayers > 0 {
		return
	}
	c.HeadLayers = 2
	if c.HasReverse() {
		c.HeadLayers = 1
	}
}

func (*chain) encoder() string { return "in_" }

func (*chain) head(i, n int) string {
	if n == 1 {
		return "out"
	}
	return sequential("out", i)
}

// Prepare lays out the graph, with slow nodes where the settings ask for them.
func (r *chain) Prepare(g *graphs.Graph) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	a, c := sparse.Adjacency(g), r.settings()
	if c.HalfHop > 0 {
		if r.slow, a, err = newHalfHop(a, c.HalfHop, c.HalfHopAlpha); err != nil {
			return nil, nil, err
		}
	}
	if order, arrays, err = r.prepare(a.WithSelfLoops()); err != nil || r.slow == nil {
		r.arrays = len(arrays)
		return order, arrays, err
	}
	r.arrays = len(arrays)
	more, err := r.slow.prepare(order)
	return sparse.AsGiven(g.NumNodes), slices.Concat(arrays, more), err
}

// spread gives slow nodes a mixture of their ends.
func (r *chain) spread(b *Builder, h *Node) *Node {
	if r.slow == nil {
		return h
	}
	return r.slow.enter(h, b.Arrays[r.arrays:])
}

// collect leaves slow nodes out.
func (r *chain) collect(b *Builder, h *Node) *Node {
	if r.slow == nil {
		return h
	}
	return r.slow.exit(h, b.Arrays[r.arrays:])
}

// block is the convolution's for layers the first of which reads h, with what normalises what it reads, gates what it
// makes of it, and normalises a layer's result.
func (r *chain) block(b *Builder, h *Node) (solve.Block, []*Node) {
	block, w := r.convolution.block(b, b.Arrays[:r.arrays])
	if p, ok := b.Config.projection(); ok {
		block = layers.Projected{Block: block, Projection: p}
	}
	if b.Config.BlockGate {
		block, w = gatedBlock(b, block, h, w)
	}
	if norm := b.Config.normOfLayers(); norm != nil {
		block = layers.Normalised{Block: block, N: norm}
	}
	return block, w
}

func (r *chain) represent(b *Builder, h *Node) (*Node, *solve.Stats, int) {
	c := b.Config
	block, w := r.block(b, h)
	forward := r.collect(b, solve.ForwardChain(block, h, w, c.Forward))
	if !c.HasReverse() {
		return forward, nil, 0
	}
	run := solve.ReverseChain
	if c.Adjoint == "unrolled" {
		run = solve.ReverseChainUnrolled
	}
	reverse, stats := run(block, h, w, c.Reverse, c.solves())
	return Concatenate([]*Node{forward, reverse}, 1), stats, c.Reverse
}

// solves are the options of the reverse layers' solves.
func (c Config) solves() solve.Options {
	return solve.Options{Tolerance: c.Tolerance, MaxIterations: c.MaxIterations, Order: solve.DefaultOrder}
}

// roundTrip is what Forward layers and as many reverse layers of exactly MaxIterations iterations make of h, with the
// mean change in each iteration (see [solve.Profile]).
func (r *chain) roundTrip(b *Builder, h *Node) (end, changes *Node, stats *solve.Stats) {
	block, w := r.block(b, h)
	y := solve.ForwardChain(block, h, w, b.Config.Forward)
	end, changes = solve.Profile(block, y, w, b.Config.Forward, b.Config.MaxIterations)
	return end, changes, solve.NoStats(end)
}

// weights are the convolution's weights: W, and V of layers with an ego weight. With reverse layers, the sum of their
// norms is bounded, inside the model or after every step; PyTorch's reparametrisation calls the raw weights
// "weight_orig".
func (b *Builder) weights(params ...Param) []*Node {
	c := b.Config
	bounded := Bounded{Params: params}
	if c.HasReverse() {
		bounded.Bound = &Bound{Norm: layers.Norm(c.Bound), Limit: c.Lipschitz, Project: c.Normalise == "project",
			Start: startNorm(c) / float64(len(params))}
	}
	var values []*Node
	for _, p := range params {
		if p.Bound = bounded.Bound; p.Bound != nil && !p.Bound.Project {
			p.Name += "_orig"
		}
		values = append(values, b.Param(p))
	}
	if bounded.Bound == nil || bounded.Project {
		return values
	}
	return bounded.Apply(values)
}

// heads is the parameter of K matrices [Hidden, Hidden] below each other, each uniform in ±limit: the heads' weights
// of a convolution.
func (c Config) heads(heads int, limit float64) Param {
	return Param{Name: "stack.0.body.lin.weight", Shape: []int{heads * c.Hidden, c.Hidden}, Limit: limit, Heads: heads}
}

// ego is the parameter V [Hidden, Hidden] of layers that see a node apart from its neighbours; its start is that of
// Glorot and Bengio (2010).
func (c Config) ego() Param {
	return Param{Name: "stack.0.body.ego.weight", Shape: []int{c.Hidden, c.Hidden}, Limit: c.glorot()}
}

// glorot is the limit of the uniform start of a [Hidden, Hidden] matrix as in PyTorch Geometric, sqrt(6/(in+out))
// (Glorot and Bengio 2010).
func (c Config) glorot() float64 { return math.Sqrt(3 / float64(c.Hidden)) }

// bias is the convolution's bias, scaled, and zero where it has none.
func (b *Builder) bias(w *Node) *Node {
	if b.Config.NoBias {
		return BroadcastToDims(loop.Float(w, 0), b.Config.Hidden)
	}
	return b.blockScaled(b.Param(Param{Name: "stack.0.body.bias", Shape: []int{b.Config.Hidden}}))
}

// blockScaled is a weight or bias w of the layers' block as the layers use it: s w, with s the block scale.
//
// All L layers of a chain share w, so that a step of the optimiser, which changes w by about the learning rate whatever
// the gradient, changes what the chain computes L times over: at a learning rate that suits 64 layers, 512 layers are
// thrown far off by a single step. With s = 64/512, a step on w changes the layers' weights by an eighth, and the whole
// chain as it would change one of 64 layers; the encoder and the head learn at the rate that they had. The bound c on
// the norm of w is one of s c on that of s w, and what L layers can grow their input by, (1 + s c)^L forwards and
// (1 - s c)^-L backwards, stays bounded whatever L: by exp(64 c) forwards in this example. Deep residual networks whose
// layers have weights of their own are scaled likewise (Zhang, Dauphin and Ma, ICLR 2019).
func (b *Builder) blockScaled(w *Node) *Node {
	if b.Config.BlockScale == 1 {
		return w
	}
	return MulScalar(w, b.Config.BlockScale)
}

// startNorm is the Frobenius norm that the convolution's weights start with together: min(c, sqrt(d)/64), so that each
// layer starts close to the identity, as is usual in deep residual networks (Zhang, Dauphin and Ma, ICLR 2019).
// Reverse layers can grow what they are given: a random d x d matrix of norm s has eigenvalues up to about s/sqrt(d)
// (the circular law), and depth layers grow features by up to exp(depth s/sqrt(d)), beyond single precision for 1024
// layers of width 64 at norm 1; from this start by at most exp(16). Adam moves the norm to the bound within some ten
// steps.
func startNorm(c Config) float64 {
	return min(c.Lipschitz, math.Sqrt(float64(c.Hidden))/64)
}
