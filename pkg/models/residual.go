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

// residual is the network of layers f(H) = H + h(H) that share one branch h (paper section 3.3) and, in models with a
// reverse process, of their inverses. Both start from the encoded features, and the head reads both results.
type residual struct {
	frame
	chain *chain
}

func newResidual(conv convolution) residual {
	c := &chain{convolution: conv}
	return residual{frame{c}, c}
}

// chain is the [backbone] of residual networks: the message passing between the encoder and the head.
type chain struct {
	convolution
	slow *halfHop // nil without Half-Hop
}

// convolution makes the branch h of a residual network. Its parameters are named as in PyTorch Geometric's layers,
// after the prefix "stack.0.body.": for example "stack.0.body.lin.weight".
type convolution interface {
	settings() Config
	// prepare lays out an adjacency with self loops, whose edges may have directions.
	prepare(a *sparse.CSR) (sparse.Order, []*tensors.Tensor, error)
	// layers returns h with its weights. h is the input of the first layer, from which gates are computed.
	layers(b *Builder, h *Node) chained
}

// chained is a layer together with its weights.
type chained interface {
	forward(x *Node, depth int) *Node
	invert(x *Node, depth int, o solve.Options) solve.Solution
	profile(x *Node, depth, iterations int) (z, changes *Node)
}

type weighted[W any] struct {
	layer solve.Layer[W]
	w     W
}

func (l weighted[W]) forward(x *Node, depth int) *Node { return solve.Forward(l.layer, x, l.w, depth) }

func (l weighted[W]) invert(x *Node, depth int, o solve.Options) solve.Solution {
	return solve.Invert(l.layer, x, l.w, depth, o)
}

func (l weighted[W]) profile(x *Node, depth, iterations int) (z, changes *Node) {
	return solve.Profile(l.layer, x, l.w, depth, iterations)
}

// dressed changes a layer as the settings ask: by a normalisation of its input, by gates
//
//	G = sigmoid(H U + u)      H, G: [n, d], U: [d, d], u: [d]
//
// on its branch, and by a normalisation of its result. H is the input of the first layer, so that G is the same in all
// layers and does not depend on their states: the bound on Lip(h) holds for G ∘ h as well.
func dressed[W any](b *Builder, h *Node, layer solve.Layer[W], w W) chained {
	c := b.Config
	if c.projects() {
		layer = layers.Projected(layer, layers.Projection(c.BlockNorm))
	}
	if c.BlockGate {
		gate := Sigmoid(b.Linear("stack.0.body.gate", h, c.Hidden))
		return normed(c, layers.Gated(layer), layers.GatedWeights[W]{G: gate, Inner: w})
	}
	return normed(c, layer, w)
}

func normed[W any](c Config, layer solve.Layer[W], w W) chained {
	if norm := c.normOfLayers(); norm != nil {
		layer = layers.Normalised(layer, norm)
	}
	return weighted[W]{layer, w}
}

// projects tells whether the setting "block-norm" names a normalisation of what layers read.
func (c Config) projects() bool { return c.BlockNorm != "" && c.BlockNorm != "none" }

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

// Prepare lays out the graph's adjacency, after Half-Hop where the settings ask for it.
func (r *chain) Prepare(g *graphs.Graph) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	a, c := sparse.Adjacency(g), r.settings()
	if c.HalfHop == 0 {
		return r.prepare(a.WithSelfLoops())
	}
	if r.slow, a, err = newHalfHop(a, c.HalfHop, c.HalfHopAlpha); err != nil {
		return nil, nil, err
	}
	if order, arrays, err = r.prepare(a.WithSelfLoops()); err != nil {
		return nil, nil, err
	}
	more, err := r.slow.prepare(order)
	return sparse.AsGiven(g.NumNodes), slices.Concat(arrays, more), err
}

// spread and collect add and remove the rows of the nodes that Half-Hop adds.
func (r *chain) spread(b *Builder, h *Node) *Node {
	if r.slow == nil {
		return h
	}
	return b.Matrix(r.slow.into).Product(h)
}

func (r *chain) collect(b *Builder, h *Node) *Node {
	if r.slow == nil {
		return h
	}
	return b.Matrix(r.slow.back).Product(h)
}

// represent applies the forward layers to h and, in models with a reverse process, the reverse layers, side by side.
func (r *chain) represent(b *Builder, h *Node) (*Node, *solve.Stats, int) {
	c := b.Config
	layer := r.layers(b, h)
	forward := r.collect(b, layer.forward(h, c.Forward))
	if !c.HasReverse() {
		return forward, nil, 0
	}
	reverse := layer.invert(h, c.Reverse, c.solves())
	return Concatenate([]*Node{forward, reverse.Z}, 1), &reverse.Stats, c.Reverse
}

// solves are the options of the fixed-point iterations that invert the layers.
func (c Config) solves() solve.Options {
	return solve.Options{Tolerance: c.Tolerance, MaxIterations: c.MaxIterations, Order: solve.DefaultOrder,
		Adjoint: solve.Adjoint(c.Adjoint)}
}

// roundTrip runs the forward layers on h, and then their inverses on the result. Each inverse takes exactly
// MaxIterations iterations. end is the final result, which should equal h. changes has an entry for each iteration: the
// mean absolute change of the solution in this iteration, averaged over all layers (see [solve.Profile]).
func (r *chain) roundTrip(b *Builder, h *Node) (end, changes *Node, stats *solve.Stats) {
	layer := r.layers(b, h)
	end, changes = layer.profile(layer.forward(h, b.Config.Forward), b.Config.Forward, b.Config.MaxIterations)
	none := solve.NoStats(end)
	return end, changes, &none
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
