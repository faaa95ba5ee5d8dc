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

// residual is the network of layers f(H) = H + h(H) that share one block h (paper section 3.3). In models with a
// reverse process, the inverses of these layers are applied to the same input, side by side with the layers.
type residual struct {
	frame
	chain *chain
	layer any
}

// newResidual makes the network whose block h comes from a convolution. The argument layer is the zero value of the
// type of the convolution's block, or nil if settings change the layers: see [layerIf].
func newResidual(conv convolution, layer any) residual {
	c := &chain{convolution: conv}
	return residual{frame{c}, c, layer}
}

// Layer implements [Layered].
func (r residual) Layer() any { return r.layer }

// chain is the [backbone] of residual networks: the message passing between the encoder and the head.
type chain struct {
	convolution
	slow   *halfHop // nil without Half-Hop
	arrays int      // number of the arrays that convolution.prepare returned
}

// convolution makes the block h of a residual network. The parameters of h have the names of PyTorch Geometric's
// layers, with "stack.0.body." before them.
type convolution interface {
	// settings are the network's settings.
	settings() Config
	// prepare lays out an adjacency with self loops. With Half-Hop, the edges have directions (see [halfHop]).
	prepare(a *sparse.CSR) (sparse.Order, []*tensors.Tensor, error)
	// block returns h and the list of arrays that h reads, with the weights first. The argument arrays lists the arrays
	// that prepare returned, as values in the computation graph.
	block(b *Builder, arrays []*Node) (solve.Block, []*Node)
}

// plainSettings are the shared settings of residual networks without reverse layers. reverseSettings are the shared
// settings of residual networks with reverse layers.
var (
	plainSettings = append([]string{"forward", "hidden", "dropout", "activation", "norm", "block-gate", "block-norm",
		"block-scale", "no-bias", "head-layers"}, remedies...)
	reverseSettings = []string{"forward", "reverse", "hidden", "dropout", "activation", "lipschitz", "bound",
		"normalise", "tolerance", "max-iterations", "adjoint", "norm", "block-gate", "block-norm",
		"block-scale", "no-bias", "head-layers"}
)

// resolveHead sets the number of linear layers in the head, if no number is given. The authors have 1 linear layer in
// models with reverse layers, and 2 in models without.
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

// Prepare lays out the graph's adjacency. If the settings ask for Half-Hop, slow nodes are added to the graph first:
// see [halfHop].
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

// spread adds a row for each slow node. A slow node is a node that Half-Hop puts into the middle of an edge (see
// [halfHop]). Its row is a mixture of the rows of the edge's two nodes. Without Half-Hop, spread changes nothing.
func (r *chain) spread(b *Builder, h *Node) *Node {
	if r.slow == nil {
		return h
	}
	return r.slow.enter(h, b.Arrays[r.arrays:])
}

// collect removes the rows that spread has added for slow nodes.
func (r *chain) collect(b *Builder, h *Node) *Node {
	if r.slow == nil {
		return h
	}
	return r.slow.exit(h, b.Arrays[r.arrays:])
}

// block is the convolution's block h, changed as the settings ask. There may be a normalisation of the input of h,
// gates on the result of h, and a normalisation of the result of the layer. The Go argument h is the input of the first
// layer.
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

// represent applies the forward layers and, if there are any, the reverse layers to h; see [backbone].
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

// solves are the options of the fixed-point iterations that invert the layers.
func (c Config) solves() solve.Options {
	return solve.Options{Tolerance: c.Tolerance, MaxIterations: c.MaxIterations, Order: solve.DefaultOrder}
}

// roundTrip runs the forward layers on h, and then as many reverse layers, each with exactly MaxIterations iterations.
// changes has an entry for each iteration: how much this iteration changed the solution on average, in absolute value,
// over all layers (see [solve.Profile]).
func (r *chain) roundTrip(b *Builder, h *Node) (end, changes *Node, stats *solve.Stats) {
	block, w := r.block(b, h)
	y := solve.ForwardChain(block, h, w, b.Config.Forward)
	end, changes = solve.Profile(block, y, w, b.Config.Forward, b.Config.MaxIterations)
	return end, changes, solve.NoStats(end)
}

// weights declares the convolution's weight W and, for layers with an ego weight, V, and returns their values. In
// networks with reverse layers, the sum of the norms of W and V is bounded. The setting "normalise" says whether the
// model itself scales the weights, or training scales them after every step of the optimiser. If the model scales them,
// the parameters are the unscaled weights, and their names end in "weight_orig", as in PyTorch.
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

// heads declares the weights of a convolution's K heads: K matrices [Hidden, Hidden], stacked along their rows. Their
// entries start uniformly between -limit and limit.
func (c Config) heads(heads int, limit float64) Param {
	return Param{Name: "stack.0.body.lin.weight", Shape: []int{heads * c.Hidden, c.Hidden}, Limit: limit, Heads: heads}
}

// ego declares the parameter V, [Hidden, Hidden], of layers with a separate weight for the node itself, with Glorot
// and Bengio's (2010) initial values.
func (c Config) ego() Param {
	return Param{Name: "stack.0.body.ego.weight", Shape: []int{c.Hidden, c.Hidden}, Limit: c.glorot()}
}

// glorot is sqrt(6/(in+out)) for a [Hidden, Hidden] matrix, the limit of PyTorch Geometric's uniform initial values
// (Glorot and Bengio 2010).
func (c Config) glorot() float64 { return math.Sqrt(3 / float64(c.Hidden)) }

// bias is the convolution's bias times the block scale (see [Builder.blockScaled]), or zeros if NoBias is set. The
// argument w is used only for the type of its numbers.
func (b *Builder) bias(w *Node) *Node {
	if b.Config.NoBias {
		return BroadcastToDims(loop.Float(w, 0), b.Config.Hidden)
	}
	return b.blockScaled(b.Param(Param{Name: "stack.0.body.bias", Shape: []int{b.Config.Hidden}}))
}

// blockScaled is s w, where w is a parameter (a weight or a bias) and s is the block scale, the setting BlockScale. The
// layers use s w in place of w.
//
// All L layers of a chain share w. A step of Adam changes every entry of w by about the learning rate, whatever the
// size of the gradient. This changes each of the L layers, so that the output of the chain changes about L times as
// much as that of one layer. With a learning rate that suits 64 layers, a single step therefore changes a chain of 512
// layers far too much. With s = 64/512, a step changes each layer by an eighth as much. It then changes the chain of
// 512 layers about as much as a chain of 64. The encoder and the head are not scaled.
//
// The bound c on the norm of w becomes the bound s c on the norm of s w. L layers can enlarge their input by a factor
// of at most (1 + s c)^L forwards and (1 - s c)^-L backwards. In this example, where s = 64/L, both are about exp(64
// c), whatever L is. Deep residual networks whose layers have separate weights are scaled in a similar way (Zhang,
// Dauphin and Ma, ICLR 2019).
func (b *Builder) blockScaled(w *Node) *Node {
	if b.Config.BlockScale == 1 {
		return w
	}
	return MulScalar(w, b.Config.BlockScale)
}

// startNorm is the sum of the Frobenius norms with which the convolution's weights start, min(c, sqrt(d)/64), where c
// is the bound and d the width. Each layer then starts close to the identity, as is usual in deep residual networks
// (Zhang, Dauphin and Ma, ICLR 2019).
//
// With larger norms, reverse layers could overflow. The eigenvalues of a random d x d matrix of Frobenius norm r are up
// to about r/sqrt(d) (the circular law). L layers can therefore enlarge features by a factor of exp(L r/sqrt(d)). For r
// = 1, width 64 and 1024 layers, this factor is beyond the range of single precision. With the norm chosen here, the
// factor for 1024 layers is at most exp(16). Adam moves the norm up to the bound within about ten steps.
func startNorm(c Config) float64 {
	return min(c.Lipschitz, math.Sqrt(float64(c.Hidden))/64)
}
