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
// reverse process, the network also has the inverses of these layers. The forward layers and the inverses start from
// the same encoded features, and the head reads both results side by side.
type residual struct {
	frame
	chain *chain
	layer any
}

// newResidual makes a residual network. The argument conv makes the block h of its layers. The argument layer is what
// the network's method Layer returns: a block with all fields zero, such as layers.GCN{}, or nil (see [layerIf]).
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

// convolution makes the block h of a residual network. The parameters of h are named as in PyTorch Geometric's layers,
// after the prefix "stack.0.body.": for example "stack.0.body.lin.weight".
type convolution interface {
	// settings are the network's settings.
	settings() Config
	// prepare lays out the adjacency matrix, which has self loops. It returns the order of the nodes, and the arrays.
	// With Half-Hop, the matrix is not symmetric, since some edges have only one direction (see [halfHop]).
	prepare(a *sparse.CSR) (sparse.Order, []*tensors.Tensor, error)
	// block returns h and the list of arrays that h reads, with the weights first. The argument arrays lists the arrays
	// that prepare returned, as values in the computation graph.
	block(b *Builder, arrays []*Node) (solve.Block, []*Node)
}

// plainSettings are the names of the shared settings that the models gcn and gat have. reverseSettings are the names of
// the shared settings that gcn+rep, gat+rep and sage+rep have.
var (
	plainSettings = append([]string{"forward", "hidden", "dropout", "activation", "norm", "block-gate", "block-norm",
		"block-scale", "no-bias", "head-layers"}, remedies...)
	reverseSettings = []string{"forward", "reverse", "hidden", "dropout", "activation", "lipschitz", "bound",
		"normalise", "layer-init", "tolerance", "max-iterations", "adjoint", "norm", "block-gate", "block-norm",
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

// Prepare lays out the graph's adjacency. If the settings ask for Half-Hop, Prepare first puts additional nodes, called
// slow nodes, into the middle of edges: see [halfHop].
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

// spread adds a row to h for each slow node. A slow node is a node that Half-Hop puts into the middle of an edge (see
// [halfHop]). Its row is a mixture of the rows of the edge's two nodes. Without Half-Hop, spread returns h.
func (r *chain) spread(b *Builder, h *Node) *Node {
	if r.slow == nil {
		return h
	}
	return r.slow.enter(h, b.Arrays[r.arrays:])
}

// collect removes the rows of h that [chain.spread] added for Half-Hop. Without Half-Hop, collect returns h.
func (r *chain) collect(b *Builder, h *Node) *Node {
	if r.slow == nil {
		return h
	}
	return r.slow.exit(h, b.Arrays[r.arrays:])
}

// block returns the block of the layers, and the list of arrays that this block reads. It is the convolution's block,
// changed as the settings ask: by a normalisation of the block's input, by gates on the block's result, or by a
// normalisation of the layer's result. The argument h is the input of the first layer, from which the gates are
// computed.
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

// represent applies the forward layers to h. In models with a reverse process, it also applies the reverse layers to h,
// and puts the two results side by side. See [backbone].
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

// roundTrip runs the forward layers on h, and then their inverses on the result. Each inverse takes exactly
// MaxIterations iterations. end is the final result, which should equal h. changes has an entry for each iteration: the
// mean absolute change of the solution in this iteration, averaged over all layers (see [solve.Profile]).
func (r *chain) roundTrip(b *Builder, h *Node) (end, changes *Node, stats *solve.Stats) {
	block, w := r.block(b, h)
	y := solve.ForwardChain(block, h, w, b.Config.Forward)
	end, changes = solve.Profile(block, y, w, b.Config.Forward, b.Config.MaxIterations)
	return end, changes, solve.NoStats(end)
}

// weights declares the weights of a convolution, and returns their values. The arguments are the weight W and, if the
// layers have a separate weight for the node itself, V. In networks with reverse layers, the sum of the norms of W and
// V is bounded. The setting "normalise" says where the weights are scaled down to the bound: in training after every
// step of the optimiser, or inside the model. If the model scales them, the parameters are the unscaled weights, and
// "_orig" is appended to their names, as in PyTorch.
func (b *Builder) weights(params ...Param) []*Node {
	c := b.Config
	bounded := Bounded{Params: params}
	if c.HasReverse() {
		bounded.Bound = &Bound{Norm: layers.Norm(c.Bound), Limit: c.Lipschitz, Project: c.Normalise == "project",
			Start: c.startNorm() / float64(len(params))}
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

// heads declares the weights of a convolution's K heads as one parameter. It holds K matrices [Hidden, Hidden], one
// below the other. The argument heads is K, which is 1 for convolutions without attention. The initial values of the
// entries are drawn uniformly from the interval from -limit to limit.
func (c Config) heads(heads int, limit float64) Param {
	return Param{Name: "stack.0.body.lin.weight", Shape: []int{heads * c.Hidden, c.Hidden}, Limit: limit, Heads: heads}
}

// ego declares V, [Hidden, Hidden], the weight by which some layers multiply the features of the node itself, apart
// from those of its neighbours. The initial values of V are those of Glorot and Bengio (2010): see [Config.glorot].
func (c Config) ego() Param {
	return Param{Name: "stack.0.body.ego.weight", Shape: []int{c.Hidden, c.Hidden}, Limit: c.glorot()}
}

// glorot returns the limit of the initial values of a weight [Hidden, Hidden]: sqrt(6/(in+out)) for in = out = Hidden
// (Glorot and Bengio 2010). The values are drawn uniformly from the interval from -limit to limit, as in PyTorch
// Geometric.
func (c Config) glorot() float64 { return math.Sqrt(3 / float64(c.Hidden)) }

// bias returns the convolution's bias times the block scale (see [Builder.blockScaled]), or zeros if NoBias is set. The
// zeros have the same number type as the argument w.
func (b *Builder) bias(w *Node) *Node {
	if b.Config.NoBias {
		return BroadcastToDims(loop.Float(w, 0), b.Config.Hidden)
	}
	return b.blockScaled(b.Param(Param{Name: "stack.0.body.bias", Shape: []int{b.Config.Hidden}}))
}

// blockScaled returns s w, where w is a parameter of the layers (a weight or the bias) and s is the setting BlockScale.
// The layers compute with s w in place of w.
//
// All L layers of a chain share w. A step of the optimiser Adam changes every entry of w by about the learning rate,
// whatever the size of the gradient. This changes each of the L layers. Therefore the output of the chain changes about
// L times as much as the output of one layer. Suppose that a learning rate suits 64 layers. With this learning rate, a
// single step changes a chain of 512 layers far too much. With s = 64/512, a step changes each layer by an eighth as
// much. The step then changes the chain of 512 layers about as much as a chain of 64 layers. The encoder and the head
// are not scaled.
//
// In models with reverse layers, the norm of the weights is at most c, the setting Lipschitz. The norm of the scaled
// weights is then at most s c. L layers can enlarge distances by a factor of at most (1 + s c)^L forwards, and of at
// most (1 - s c)^-L backwards. If s = 64/L, both factors are about exp(64 c) for every large L. Deep residual networks
// whose layers have separate weights are scaled in a similar way (Zhang, Dauphin and Ma, ICLR 2019).
func (b *Builder) blockScaled(w *Node) *Node {
	if b.Config.BlockScale == 1 {
		return w
	}
	return MulScalar(w, b.Config.BlockScale)
}

// startNorm returns the limit of the sum of the Frobenius norms of the convolution's initial weights. It returns 0 if
// there is no limit. The setting LayerInit chooses between two kinds of initial weights.
//
// With "small", the limit is min(c, sqrt(d)/64), where c is the bound on the norm and d is the width. Each layer then
// starts close to the identity, as is usual in deep residual networks (Zhang, Dauphin and Ma, ICLR 2019). With larger
// norms, the features could exceed the range of single precision in the reverse layers. A random d x d matrix of
// Frobenius norm r has eigenvalues of absolute value up to about r/sqrt(d) (the circular law). So one layer can enlarge
// features by a factor of about 1 + r/sqrt(d), and L layers can enlarge them by a factor of about exp(L r/sqrt(d)). For
// r = 1, width 64 and 1024 layers, this factor is beyond the range of single precision. With "small", the factor for
// 1024 layers is at most exp(16). The optimiser Adam moves the norm up to the bound within about ten steps, if the
// learning rate is not small.
//
// With "glorot", the initial weights are those of PyTorch Geometric, which the authors' code has. Their norm is about
// sqrt(d), far above the bound. If the bound is kept inside the model, the parameters start with these values, and the
// model scales them down. If training keeps the bound, the limit is c, since the layers need the bound from the start.
func (c Config) startNorm() float64 {
	switch {
	case c.LayerInit == "small":
		return min(c.Lipschitz, math.Sqrt(float64(c.Hidden))/64)
	case c.Normalise == "project":
		return c.Lipschitz
	}
	return 0
}
