package models

import (
	"fmt"
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers/activation"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// platonov is the network of Platonov et al., "A critical look at the evaluation of GNNs under heterophily: are we
// really making progress?" (ICLR 2023). The modules M_0 … M_{K-1} are those of all layers, with one or several in each.
// Parameters have the names of the authors' code, https://github.com/yandex-research/heterophilous-graphs:
//
//	X_0     = GELU(dropout(F W^T + b))            features F [n, features], X_k [n, d]
//	X_{k+1} = X_k + M_k(LayerNorm(X_k))
//	logits  = LayerNorm(X_K) W^T + b              [n, outputs]
//
// GELU(x) = x Φ(x) with the exact normal distribution function Φ (Hendrycks and Gimpel 2016), as in torch.nn.GELU.
type platonov struct {
	messages func(g *graphs.Graph, a *Arrays) []module
	modules  []module // of a layer, in their order
}

func (p *platonov) Prepare(g *graphs.Graph, a *Arrays) { p.modules = p.messages(g, a) }

// module is M_k: z is LayerNorm(X_k), [n, d], and name begins the names of parameters.
type module func(b *Builder, name string, z *Node) *Node

// platonovSettings have the "hidden dimension multiplier" m of [feedForward].
type platonovSettings struct {
	Multiplier int `name:"hidden-dim-multiplier" least:"1" most:"64" help:"width inside a feed-forward module, in widths"`
}

// registerPlatonov registers a kind whose network is a [platonov], with what all of these have in common. messages lays
// out the graph and returns the modules of a layer; shared are further shared settings.
func registerPlatonov(k Kind, messages func(g *graphs.Graph, a *Arrays) []module, shared ...string) {
	k.Reference += "as in Platonov et al., ICLR 2023"
	k.Shared = slices.Concat([]string{"forward", "hidden", "dropout"}, shared)
	k.Own = platonovSettings{Multiplier: 1}
	// Those of Platonov et al., whose width is 512, for GPUs.
	k.Defaults = func(c *Config) { c.Forward, c.Hidden, c.Heads, c.Dropout = 5, 64, 8, 0.2 }
	k.New = func(Config) Network { return &platonov{messages: messages} }
	Register(k)
}

// Build implements [Network]. The representation, [n, d], is LayerNorm(X_K).
func (p *platonov) Build(b *Builder) Output {
	x := activation.Gelu(b.Dropout(b.Encode("input_linear", b.Config.Hidden)))
	x = b.Layers(b.Config.Forward, x, func(b *Builder, l int, x *Node) *Node {
		for i, m := range p.modules {
			name := fmt.Sprintf("residual_modules.%d.", l*len(p.modules)+i)
			x = Add(x, m(b, name+"module.", b.LayerNorm(name+"normalization", x)))
		}
		return x
	})
	x = b.LayerNorm("output_normalization", x)
	return Output{Logits: b.Linear("output_linear", x, b.Outputs), Representation: x}
}

// feedForward is FFN(Y) = dropout(GELU(dropout(Y W1^T + b1)) W2^T + b2), with W1 [m d, in] and W2 [d, m d].
func feedForward(b *Builder, name string, y *Node) *Node {
	return feedForwardOf(b, name, y, func(w *Node) *Node { return w })
}

// feedForwardOf is the same for Y with columns in another order than in the authors' code, to which columns brings W1.
func feedForwardOf(b *Builder, name string, y *Node, columns func(w *Node) *Node) *Node {
	inner := OwnOf[platonovSettings](b.Config).Multiplier * b.Config.Hidden
	w, bias := b.linear(name+"linear_1", y.Shape().Dimensions[1], inner)
	h := activation.Gelu(b.Dropout(affine(y, columns(w), bias)))
	return b.Dropout(b.Linear(name+"linear_2", h, b.Config.Hidden))
}

func init() {
	registerPlatonov(Kind{Name: "sage", Weighted: true, Alias: "platonov-sage", Title: "SAGE",
		Confused: "sage is the network of Platonov et al., with LayerNorm and GELU; residual layers as in GraphSAGE are " +
			"residual-sage, and with reverse layers sage+rep",
		Layer:     "X + W2 GELU(W1 [Z, mean of neighbours' Z] + b1) + b2, Z = LayerNorm(X)",
		Reference: "Hamilton et al., NeurIPS 2017, "}, sage)
}

// sage is GraphSAGE (Hamilton et al., NeurIPS 2017) in the network [platonov]:
//
//	M(Z) = FFN([Z, D^-1 A Z])                     Z and M(Z) [n, d], [Z, D^-1 A Z] [n, 2d]
//
// There are no self loops; row i of D^-1 A Z is the mean over i's neighbours, or 0.
func sage(g *graphs.Graph, a *Arrays) []module {
	mean := a.Matrix(rowMean(g))
	return []module{func(b *Builder, name string, z *Node) *Node {
		both := Concatenate([]*Node{z, b.Matrix(mean).Product(z)}, -1)
		return feedForward(b, name+"feed_forward_module.", both)
	}}
}

func init() {
	registerPlatonov(Kind{Name: "gat-sep", Title: "GAT-sep", Check: checkHeads,
		Layer:     "X + FFN([Y, A Y]), A a softmax of LeakyReLU(u_j + v_i) over neighbours, Y = W LayerNorm(X) + b",
		Reference: "Veličković et al., ICLR 2018, "}, gatSep, "heads")
}

// gatSep is GAT (Veličković et al., ICLR 2018) in the network [platonov], with a node's own features apart from those
// of its neighbours. K heads have d/K columns of Y and H each:
//
//	M(Z)  = FFN([Y, H]),  H = [H^(1) … H^(K)]                       Z, Y, H [n, d], Y a linear map of Z
//	H^(k) = A^(k) Y^(k),  A^(k)_ij = softmax_j(LeakyReLU(u^(k)_j + v^(k)_i))
//
// The columns of u and v, [n, K], are linear maps of Y. The softmax is over i's neighbours j, without i; without
// neighbours, H is 0. As in Platonov et al.'s code, u has a bias and v has none, and column a K + k of Y is feature a
// of head k, both from 0.
func gatSep(g *graphs.Graph, a *Arrays) []module {
	pattern := a.Pattern(sparse.Adjacency(g), sparse.PatternOptions{})
	return []module{func(b *Builder, name string, z *Node) *Node {
		d, heads := b.Config.Hidden, b.Config.Heads
		// Attend needs y's columns head by head. Reordering parameters is cheaper than reordering y.
		columns := func(w *Node) *Node { return byHead(w, 1, d, heads) }
		w, bias := b.linear(name+"input_linear", d, d)
		y := affine(z, byHead(w, 0, d, heads), byHead(bias, 0, d, heads))
		w, bias = b.linear(name+"attn_linear_u", d, heads)
		u := affine(y, columns(w), bias)
		v := times(y, columns(b.matrix(name+"attn_linear_v", d, heads)))
		edges := b.Edges(pattern)
		h := edges.Attend(additive(edges, u, v), y)
		return feedForwardOf(b, name+"feed_forward_module.", Concatenate([]*Node{y, h}, -1), columns)
	}}
}

// byHead reorders an axis of a parameter, in parts of d entries: from entry a K + k for feature a of head k to the
// features of head 0, then those of head 1, and so on.
func byHead(w *Node, axis, d, heads int) *Node {
	dims := w.Shape().Dimensions
	split := slices.Concat(dims[:axis], []int{dims[axis] / d, d / heads, heads}, dims[axis+1:])
	return Reshape(Transpose(Reshape(w, split...), axis+1, axis+2), dims...)
}

// additive are the attention scores of Veličković et al. (ICLR 2018) before the softmax, LeakyReLU(source_j +
// target_i), [places, heads]; source and target are [n, heads].
func additive(edges sparse.Edges, source, target *Node) *Node {
	return layers.ActivationLeakyReLU.Of(Add(edges.Sources(source), edges.Targets(target)))
}

func checkHeads(c Config) error {
	if c.Hidden%c.Heads != 0 {
		return fmt.Errorf("hidden is %d, heads %d: the heads stand side by side, so choose a width that is a multiple "+
			"of their number", c.Hidden, c.Heads)
	}
	return nil
}

func init() {
	k := Kind{Name: "gt", Title: "GT", Check: checkHeads,
		Layer:     "Y = X + W softmax over neighbours(q·k) V + b, Y + FFN(LayerNorm(Y)); q, k, V of Z = LayerNorm(X)",
		Reference: "Shi et al., IJCAI 2021, "}
	registerPlatonov(k, func(g *graphs.Graph, a *Arrays) []module { return gt(g, a, false) }, "heads")
	k.Name, k.Title = "gt-sep", "GT-sep"
	k.Layer = "Y = X + W [Z, softmax over neighbours(q·k) V] + b, Y + FFN(LayerNorm(Y)); q, k, V of Z = LayerNorm(X)"
	registerPlatonov(k, func(g *graphs.Graph, a *Arrays) []module { return gt(g, a, true) }, "heads")
}

// gt is the Graph Transformer (Shi et al., IJCAI 2021) in the network [platonov]. A layer has two modules, attention
// M_0 with K heads and the perceptron M_1 = [feedForward]:
//
//	M_0(Z) = dropout(H W^T + b),  H = [H^(1) … H^(K)]               Z, H [n, d], W [d, d]
//	H^(a)  = A^(a) V^(a),  A^(a)_ij = softmax_j(q^(a)_j · k^(a)_i / sqrt(d'))    for head a, d' = d/K
//
// q, k and V, [n, d], are linear maps of Z, with the columns of head 1 first, then those of head 2, and so on. For
// "gt", the softmax is over node i and its neighbours j. For "gt-sep", it is over the neighbours alone, and M_0 has [Z,
// H], [n, 2d], in place of H; without neighbours, a row of H is 0.
//
// As in Platonov et al.'s code, the query belongs to the neighbour and the key to the node itself; most other code has
// these names the other way round.
func gt(g *graphs.Graph, a *Arrays, separate bool) []module {
	adjacency := sparse.Adjacency(g)
	if !separate {
		adjacency = adjacency.WithSelfLoops()
	}
	pattern := a.Pattern(adjacency, sparse.PatternOptions{})
	attention := func(b *Builder, name string, z *Node) *Node {
		d, heads, edges := b.Config.Hidden, b.Config.Heads, b.Edges(pattern)
		query, key := b.Linear(name+"attn_query", z, d), b.Linear(name+"attn_key", z, d)
		scores := DivScalar(edges.Dots(key, query, heads), math.Sqrt(float64(d/heads)))
		h := edges.Attend(scores, b.Linear(name+"attn_value", z, d))
		if separate {
			h = Concatenate([]*Node{z, h}, -1)
		}
		return b.Dropout(b.Linear(name+"output_linear", h, d))
	}
	return []module{attention, feedForward}
}
