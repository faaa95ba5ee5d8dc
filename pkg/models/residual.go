package models

import (
	"fmt"
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

// frame is what all models of the paper have in common (section 3.1): an encoder, whose features H forward and reverse
// message passing start from, and a head, which reads both results side by side:
//
//	H = dropout(ReLU(X W_in + b)),  Y = head(norm( f∘…∘f(H) ‖ g∘…∘g(H) )),  g = f^-1
//
// norm is the one that the setting "norm" names. (Dropout before ReLU, as here, gives the same.)
type frame struct {
	// encoder is the name of the encoder's linear layer in the authors' PyTorch code, head(i, n) that of layer i of the
	// n linear layers of the head.
	encoder string
	head    func(i, n int) string
	slow    *halfHop // nil without Half-Hop
}

// encode is H.
func (f frame) encode(b *Builder) *Node {
	h := b.Encode(f.encoder, b.Config.Hidden)
	if f.slow != nil {
		h = b.Matrix(f.slow.into).Product(h)
	}
	h = b.Dropout(h)
	return relu(h)
}

// readout is norm and head.
func (f frame) readout(b *Builder, x *Node) *Node {
	x = b.Norm("out_norm", x)
	n := b.Config.HeadLayers
	for i := range n {
		out := b.Config.Hidden
		if i > 0 {
			x = relu(x)
		}
		if i == n-1 {
			out = b.Outputs
		}
		x = b.Linear(f.head(i, n), x, out)
	}
	return x
}

// residual is the network of layers f(H) = H + h(H) that share one branch h (paper section 3.3) and, in models with a
// reverse process, of their inverses.
type residual struct {
	frame
	config Config
	block  block
	layers func(b *Builder, h *Node) chained
}

// block lays out an adjacency with self loops, whose edges may have directions. The function that it returns makes the
// branch h with its weights; its argument h is the input of the first layer, from which gates are computed. Parameters
// are named as in PyTorch Geometric's layers, after the prefix "stack.0.body.".
type block func(c Config, adjacency *sparse.CSR, a *Arrays) func(b *Builder, h *Node) chained

// residualOf is [Kind].New for a block.
func residualOf(h block) func(c Config) Network {
	head := func(i, n int) string {
		if n == 1 {
			return "out"
		}
		return fmt.Sprintf("out.%d", 2*i)
	}
	return func(c Config) Network {
		return &residual{frame: frame{encoder: "in_", head: head}, config: c, block: h}
	}
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
// on its branch, and by a normalisation of its result. H is the input of the first layer, so that G does not depend on
// the layers' states: the bound on Lip(h) holds for G ∘ h as well.
func dressed[W any](b *Builder, h *Node, layer solve.Layer[W], w W) chained {
	c := b.Config
	if c.BlockNorm != "" && c.BlockNorm != "none" {
		layer = layers.Projected(layer, layers.Projection(c.BlockNorm))
	}
	if c.BlockGate {
		gate := Sigmoid(b.Linear("stack.0.body.gate", h, c.Hidden))
		return normed(c, layers.Gated(layer), layers.GatedWeights[W]{G: gate, Inner: w})
	}
	return normed(c, layer, w)
}

func normed[W any](c Config, layer solve.Layer[W], w W) chained {
	switch c.NormLayers {
	case "layer":
		layer = layers.Normalised(layer, layers.LayerNorm)
	case "pair", "pair-si":
		layer = layers.Normalised(layer, func(x *Node) *Node {
			return layers.PairNorm(x, c.NormScale, c.NormLayers == "pair-si")
		})
	}
	return weighted[W]{layer, w}
}

// registerPair registers a network of residual layers and, as NAME+rep, that with reverse layers, after change. both
// are settings of both, beside those that all such networks have. The first alone has remedies for over-smoothing, with
// normalisation after every layer among them. (The authors of PairNorm apply it inside h, before the activation.)
func registerPair(k Kind, both, remedies []string, change func(k *Kind)) {
	both = append(both, "forward", "hidden", "dropout", "norm", "block-gate", "block-norm", "block-scale", "head-layers")
	k.Resolve, k.Shared = resolveHead, slices.Concat(both, remedies, []string{"norm-layers", "norm-scale"})
	Register(k)
	k.Name, k.Title, k.Plain, k.Alias, k.Confused = k.Name+"+rep", k.Title+"+ReP", k.Name, "", ""
	k.Shared = append(both, "reverse", "lipschitz", "bound", "normalise", "layer-init", "tolerance", "max-iterations",
		"adjoint")
	change(&k)
	Register(k)
}

// sampling are remedies for over-smoothing: DropEdge and Half-Hop.
var sampling = []string{"drop-edge", "half-hop", "half-hop-alpha"}

// checkRemedies refuses DropEdge with Half-Hop: one leaves out edges, and the other splits them.
func checkRemedies(c Config) error {
	if c.DropEdge > 0 && c.HalfHop > 0 {
		return fmt.Errorf("drop-edge is %g and half-hop is %g: choose one of them", c.DropEdge, c.HalfHop)
	}
	return nil
}

// resolveHead gives the head the authors' number of linear layers: 1 in models with reverse layers, else 2.
func resolveHead(c *Config) {
	if c.HeadLayers > 0 {
		return
	}
	c.HeadLayers = 2
	if c.HasReverse() {
		c.HeadLayers = 1
	}
}

// Prepare lays out the graph's adjacency, after Half-Hop where the settings ask for it.
func (r *residual) Prepare(g *graphs.Graph, a *Arrays) {
	adjacency := sparse.Adjacency(g)
	if g.Weighted() && (r.config.HalfHop > 0 || r.config.DropEdge > 0) {
		panic(failure{fmt.Errorf("drop-edge and half-hop are for edges without weights, and those of %s have some: leave "+
			"the two out, or the weights by the setting edge-weights ignore", g.Name)})
	}
	if r.config.HalfHop > 0 {
		r.slow, adjacency = newHalfHop(adjacency, r.config.HalfHop, r.config.HalfHopAlpha)
	}
	r.layers = r.block(r.config, adjacency.WithSelfLoops(), a)
	if r.slow != nil {
		r.slow.prepare(a)
		a.Order = sparse.AsGiven(g.NumNodes)
	}
}

// withoutSlow removes the rows of Half-Hop's nodes.
func (r *residual) withoutSlow(b *Builder, h *Node) *Node {
	if r.slow == nil {
		return h
	}
	return b.Matrix(r.slow.back).Product(h)
}

// Build applies the forward layers to H and, in models with a reverse process, the reverse layers, side by side.
func (r *residual) Build(b *Builder) (out Output) {
	c, h := b.Config, r.encode(b)
	layer := r.layers(b, h)
	out.Representation = r.withoutSlow(b, layer.forward(h, c.Forward))
	if c.HasReverse() {
		reverse := layer.invert(h, c.Reverse, c.solves())
		out.Representation = Concatenate([]*Node{out.Representation, reverse.Z}, 1)
		out.Stats, out.Solves = &reverse.Stats, c.Reverse
	}
	out.Logits = r.readout(b, out.Representation)
	return out
}

// solves are the options of the fixed-point iterations that invert the layers.
func (c Config) solves() solve.Options {
	return solve.Options{Tolerance: c.Tolerance, MaxIterations: c.MaxIterations, Order: solve.DefaultOrder,
		Adjoint: solve.Adjoint(c.Adjoint)}
}

// RoundTrip implements [Inverter]. Each inverse takes exactly MaxIterations iterations.
func (r *residual) RoundTrip(b *Builder) (start, end, changes *Node, stats *solve.Stats) {
	start = r.encode(b)
	layer, depth := r.layers(b, start), b.Config.Forward
	end, changes = layer.profile(layer.forward(start, depth), depth, b.Config.MaxIterations)
	none := solve.NoStats(end)
	return start, end, changes, &none
}

// Trace implements [Tracer].
func (r *residual) Trace(b *Builder, forward, reverse []int) (forwards, reverses []*Node) {
	h := r.encode(b)
	layer := r.layers(b, h)
	// states are those after the given numbers of layers; chain applies depth further ones.
	states := func(numbers []int, chain func(x *Node, depth int) *Node) []*Node {
		out, x, at := make([]*Node, len(numbers)), h, 0
		for i, l := range numbers {
			x, at = chain(x, l-at), l
			out[i] = x
		}
		return out
	}
	forwards = states(forward, layer.forward)
	for i, x := range forwards {
		forwards[i] = r.withoutSlow(b, x)
	}
	reverses = states(reverse, func(x *Node, depth int) *Node {
		return layer.invert(x, depth, b.Config.solves()).Z
	})
	return forwards, reverses
}

// Readout implements [Tracer].
func (r *residual) Readout(b *Builder, forward, reverse *Node) *Node {
	if !b.Config.HasReverse() {
		return r.readout(b, forward)
	}
	if forward == nil {
		forward = loop.Zeros(reverse)
	}
	if reverse == nil {
		reverse = loop.Zeros(forward)
	}
	return r.readout(b, Concatenate([]*Node{forward, reverse}, 1))
}

// weights declares W and, if there is one, V of a block. In networks with reverse layers, the sum of their norms is
// bounded, by training after every step or, where "normalise" says so, inside the model. The parameters are then the
// unscaled weights, with "_orig" after their names, as in PyTorch.
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

// heads declares the K matrices [Hidden, Hidden] of a block's attention heads, one below the other.
func (c Config) heads(heads int, limit float64) Param {
	return Param{Name: "stack.0.body.lin.weight", Shape: []int{heads * c.Hidden, c.Hidden}, Limit: limit, Heads: heads}
}

// ego declares V, the weight for the features of the node itself.
func (c Config) ego() Param {
	return Param{Name: "stack.0.body.ego.weight", Shape: []int{c.Hidden, c.Hidden}, Limit: c.glorot()}
}

// glorot is sqrt(6/(in+out)) for in = out = Hidden (Glorot and Bengio 2010), as in PyTorch Geometric.
func (c Config) glorot() float64 { return math.Sqrt(3 / float64(c.Hidden)) }

// bias is the block's bias, times the block scale, or zeros with NoBias, of w's type.
func (b *Builder) bias(w *Node) *Node {
	if b.Config.NoBias {
		return BroadcastToDims(loop.Float(w, 0), b.Config.Hidden)
	}
	return b.blockScaled(b.Param(Param{Name: "stack.0.body.bias", Shape: []int{b.Config.Hidden}}))
}

// blockScaled is s w, which the layers use in place of a parameter w; s is the setting BlockScale.
//
// A step of Adam changes every entry of w by about the learning rate, and so each of the L layers that share w: the
// result of the chain changes about L times as much as that of one layer. If a learning rate suits 64 layers, s = 64/L
// makes it suit L layers. (The encoder and the head are not scaled.)
//
// With reverse layers, Lip(h) <= s c for c = Lipschitz. L layers enlarge distances by (1 + s c)^L at most forwards, and
// by (1 - s c)^-L backwards: about exp(64 c) for s = 64/L and every large L. Residual networks with separate weights
// are scaled similarly (Zhang, Dauphin and Ma, ICLR 2019).
func (b *Builder) blockScaled(w *Node) *Node {
	if b.Config.BlockScale == 1 {
		return w
	}
	return MulScalar(w, b.Config.BlockScale)
}

// startNorm limits the sum of the Frobenius norms of the block's initial weights; 0 is no limit.
//
// LayerInit "small" is min(c, sqrt(d)/64) for c = Lipschitz and the width d: each layer starts close to the identity,
// as is usual in deep residual networks (Zhang, Dauphin and Ma, ICLR 2019). A random d x d matrix of Frobenius norm r
// has eigenvalues of up to about r/sqrt(d) (the circular law), so that L layers can enlarge features by about exp(L
// r/sqrt(d)): beyond single precision for r = 1, d = 64 and L = 1024, but at most exp(16) with "small". Adam moves the
// norm up to the bound within about ten steps.
//
// LayerInit "glorot" is the authors' and PyTorch Geometric's, of norm sqrt(d), far above the bound. If the model keeps
// the bound, it scales them down. If training does, the limit is c, since layers need the bound from the start.
func (c Config) startNorm() float64 {
	switch {
	case c.LayerInit == "small":
		return min(c.Lipschitz, math.Sqrt(float64(c.Hidden))/64)
	case c.Normalise == "project":
		return c.Lipschitz
	}
	return 0
}

func init() {
	registerPair(Kind{Name: "gcn", Weighted: true, Alias: "residual-gcn", Title: "GCN",
		Confused: "gcn is the paper's network, residual layers that share a weight; Kipf and Welling's, two GCNConv of " +
			"PyTorch Geometric, is pyg-gcn",
		Layer:     "X + σ(Â X W + b), σ = ReLU, Â the adjacency with self loops, symmetrically normalised",
		Reference: "Kipf and Welling, ICLR 2017; paper section 3.3", Check: checkRemedies, New: residualOf(gcn(false))},
		[]string{"activation", "no-bias"}, sampling, func(k *Kind) { k.Suggested = true })
}

func init() {
	registerPair(Kind{Name: "sage-res", Weighted: true, Alias: "residual-sage", Title: "SAGE, residual",
		Layer:     "X + σ(Â X W + X V + b), σ = ReLU: GCN's layer with a weight for the node itself, as in GraphSAGE",
		Reference: "Hamilton et al., NeurIPS 2017; docs/which-layer.md",
		Defaults:  func(c *Config) { c.Norm, c.Dropout = "batch", 0.2 },
		New:       residualOf(gcn(true))}, []string{"activation", "no-bias"}, nil, func(k *Kind) {
		k.Name, k.Title = "sage+rep", "SAGE+ReP"
		// docs/which-layer.md has the measurements that speak for these settings.
		k.Defaults = func(c *Config) {
			c.Forward, c.Reverse, c.Norm, c.Dropout = 1, 32, "batch", 0.2
			c.Lipschitz, c.Bound, c.Tolerance = 0.9, string(layers.SpectralNorm), 1e-3
		}
	})
}

// gcn is the block h(X) = σ(Â X W + b) or, with ego, σ(Â X W + X V + b); see [layers.GCN]. With DropEdge, Â differs
// from one training step to the next.
func gcn(ego bool) block {
	return func(c Config, adjacency *sparse.CSR, a *Arrays) func(*Builder, *Node) chained {
		var normalised func(b *Builder) sparse.Operator
		if c.DropEdge > 0 {
			pattern := a.Pattern(adjacency, sparse.PatternOptions{Uses: sparse.ForLoopAttention})
			normalised = newDropEdge(adjacency, pattern, a).normalised
		} else {
			normalise := (*sparse.CSR).SymmetricNormalised
			if !adjacency.Symmetric() {
				normalise = (*sparse.CSR).NormalisedByTargets
			}
			matrix := a.Matrix(normalise(adjacency))
			normalised = func(b *Builder) sparse.Operator { return b.Matrix(matrix) }
		}
		return func(b *Builder, h *Node) chained {
			params := []Param{c.heads(1, c.glorot())}
			if ego {
				params = append(params, c.ego())
			}
			w := b.weights(params...)
			weights := layers.GCNWeights{W: b.blockScaled(Transpose(w[0], 0, 1)), A: normalised(b)}
			weights.B = b.bias(weights.W)
			if ego {
				weights.V = b.blockScaled(Transpose(w[1], 0, 1))
			}
			return dressed[layers.GCNWeights](b, h, layers.GCN{Activation: layers.Activation(c.Activation)}, weights)
		}
	}
}

func init() {
	registerPair(Kind{Name: "gat", Alias: "residual-gat", Title: "GAT",
		Confused: "gat is the paper's network, residual layers that share weights; Veličković et al.'s, two GATConv of " +
			"PyTorch Geometric, is pyg-gat",
		Layer: "X + σ(1/K Σ_k A_k(X) X W_k (+ X V) + b), σ = ReLU, A_k a softmax of LeakyReLU(s_j + t_i) " +
			"over neighbours",
		Reference: "Veličković et al., ICLR 2018; paper section 3.3", Check: checkRemedies, New: residualOf(gat)},
		[]string{"activation", "no-bias", "heads", "ego"}, sampling, func(*Kind) {})
}

// gat is the block of graph attention layers, which average the results of their heads; see [layers.GAT]. As in PyTorch
// Geometric, weights start uniform in ±sqrt(6/(in + out)) (Glorot and Bengio 2010): for the K heads' matrices, in = d
// and out = K d; for the attention vectors, in = K and out = d.
func gat(c Config, edges *sparse.CSR, arrays *Arrays) func(*Builder, *Node) chained {
	var entry, image []float32 // for edges with directions: whether there is an edge, and its reverse
	directed := !edges.Symmetric()
	if directed {
		edges, entry, image = withMirrorImages(edges)
	}
	pattern := arrays.Pattern(edges, sparse.PatternOptions{Uses: sparse.ForLoopAttention, Heads: c.Heads})
	keep := func(b *Builder, w *layers.GATWeights) {}
	atPlaces := func(values []float32) *tensors.Tensor {
		places := sparse.Spread(pattern, values, 1)
		return arrays.Add(tensors.FromFlatDataAndDimensions(places, len(places), 1))
	}
	switch {
	case directed:
		entries, images := atPlaces(entry), atPlaces(image)
		keep = func(b *Builder, w *layers.GATWeights) {
			w.Edges, w.Back = w.Edges.Keeping(b.Array(entries)), loop.Constant{Node: b.Array(images)}
		}
	case c.DropEdge > 0:
		drop := newDropEdge(edges, pattern, arrays)
		keep = func(b *Builder, w *layers.GATWeights) { w.Edges = w.Edges.Keeping(drop.keep(b)) }
	}
	return func(b *Builder, h *Node) chained {
		w := gatWeights(b)
		w.Edges = b.Edges(pattern).Bare()
		keep(b, &w)
		layer := layers.GAT{Activation: layers.Activation(c.Activation), Ego: c.Ego}
		return dressed[layers.GATWeights](b, h, layer, w)
	}
}

// gatWeights declares the parameters of [gat].
func gatWeights(b *Builder) layers.GATWeights {
	heads, d := b.Config.Heads, b.Config.Hidden
	limit := math.Sqrt(6 / float64(heads+d))
	source := b.Param(Param{Name: "stack.0.body.att_src", Shape: []int{1, heads, d}, Limit: limit})
	target := b.Param(Param{Name: "stack.0.body.att_dst", Shape: []int{1, heads, d}, Limit: limit})
	params := []Param{b.Config.heads(heads, math.Sqrt(6/float64(d+heads*d)))}
	if b.Config.Ego {
		params = append(params, b.Config.ego())
	}
	matrices := b.weights(params...)
	w := Reshape(matrices[0], heads, d, d) // [heads, out, in]
	// scores has W_k v_k as column k, for W_k, [in, out], the transpose of w[k], and row k of v.
	scores := func(v *Node) *Node {
		return Einsum("koi,ko->ik", w, Reshape(v, heads, d))
	}
	// values has the W_k side by side, [in, heads*out]. Divided by K, the sum over heads in layers.GAT is their mean.
	values := b.blockScaled(DivScalar(Reshape(TransposeAllAxes(w, 2, 0, 1), d, heads*d), float64(heads)))
	all := Concatenate([]*Node{values, scores(source), scores(target)}, 1)
	if b.Config.Ego {
		all = Concatenate([]*Node{all, b.blockScaled(Transpose(matrices[1], 0, 1))}, 1)
	}
	return layers.GATWeights{Maps: all, B: b.bias(w)}
}
