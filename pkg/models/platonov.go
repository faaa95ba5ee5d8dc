package models

import (
	"fmt"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/layers/activation"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// platonov is the network of Platonov et al., "A critical look at the evaluation of GNNs under heterophily: are we
// really making progress?" (ICLR 2023). A layer consists of one or several modules M_k. Each module has a layer
// normalisation before it and a skip connection around it. The modules of all layers together are numbered M_0 …
// M_{K-1}. Parameters have the names of the authors' code, https://github.com/yandex-research/heterophilous-graphs:
//
//	X_0     = GELU(dropout(F W^T + b))            features F [n, features], X_k [n, d]
//	X_{k+1} = X_k + M_k(LayerNorm(X_k))
//	logits  = LayerNorm(X_K) W^T + b              [n, outputs]
//
// GELU(x) is x Φ(x), where Φ is the distribution function of the standard normal distribution (Hendrycks and Gimpel
// 2016). Φ is computed exactly, as in torch.nn.GELU.
type platonov struct{ messages }

// messages is the part in which the networks of the form [platonov] differ: Prepare makes the arrays for message
// passing, and modules lists the modules of a layer.
type messages interface {
	Prepare(g *graphs.Graph) (sparse.Order, []*tensors.Tensor, error)
	// modules lists the modules M_k of one layer, in the order in which the layer applies them.
	modules() []module
}

// module is the function M_k in the formula X_{k+1} = X_k + M_k(LayerNorm(X_k)) of [platonov]. The argument z is
// LayerNorm(X_k), [n, d], and the result has the same shape. The argument name is the string with which the names of
// the module's parameters begin.
type module func(b *Builder, name string, z *Node) *Node

// platonovSettings are the settings that the networks of the form [platonov] have besides the shared settings.
// Multiplier is the width between the two linear maps of [feedForward], divided by the width of the layers. The authors
// call it "hidden dimension multiplier".
type platonovSettings struct {
	Multiplier int `name:"hidden-dim-multiplier" least:"1" most:"64" help:"width inside a feed-forward module, in widths"`
}

// registerPlatonov registers a kind of model whose network is a [platonov]. It fills in the fields of k that are the
// same for all kinds of this form. The function network makes the part in which the networks differ, see [messages].
// The argument shared lists the shared settings (see package models) that k has besides "forward", "hidden" and
// "dropout".
func registerPlatonov(k Kind, network func() messages, shared ...string) {
	k.Reference += "as in Platonov et al., ICLR 2023"
	k.Shared = slices.Concat([]string{"forward", "hidden", "dropout"}, shared)
	k.Own = platonovSettings{Multiplier: 1}
	// The defaults are those of Platonov et al., except for the width. Their width is 512, for GPUs. The width here is
	// 64, for small machines.
	k.Defaults = func(c *Config) { c.Forward, c.Hidden, c.Heads, c.Dropout = 5, 64, 8, 0.2 }
	k.New = func(Config) Network { return platonov{network()} }
	Register(k)
}

// Build implements [Network] by the formula of [platonov]. The representation, [n, d], is LayerNorm(X_K), the
// normalised features after the last layer.
func (p platonov) Build(b *Builder) Output {
	x := activation.Gelu(b.Dropout(b.Encode("input_linear", b.Config.Hidden)))
	x = b.Layers(b.Config.Forward, x, func(b *Builder, l int, x *Node) *Node {
		modules := p.modules()
		for i, m := range modules {
			name := fmt.Sprintf("residual_modules.%d.", l*len(modules)+i)
			x = Add(x, m(b, name+"module.", b.LayerNorm(name+"normalization", x)))
		}
		return x
	})
	x = b.LayerNorm("output_normalization", x)
	return Output{Logits: b.Linear("output_linear", x, b.Outputs), Representation: x}
}

// feedForward is the module FFN(Y) = dropout(GELU(dropout(Y W1^T + b1)) W2^T + b2), with W1 [m d, in] and W2 [d, m d].
// Here d is the width of the layers, m is the setting "hidden-dim-multiplier", and "in" is the number of Y's columns.
func feedForward(b *Builder, name string, y *Node) *Node {
	return feedForwardOf(b, name, y, func(w *Node) *Node { return w })
}

// feedForwardOf is [feedForward] for an input Y whose columns are in another order than in the authors' code. The names
// and the layout of the parameters stay those of the authors' code. Therefore the columns of the first weight, W1, must
// be reordered before W1 is applied to Y: the function columns does so.
func feedForwardOf(b *Builder, name string, y *Node, columns func(w *Node) *Node) *Node {
	inner := OwnOf[platonovSettings](b.Config).Multiplier * b.Config.Hidden
	w, bias := b.linear(name+"linear_1", y.Shape().Dimensions[1], inner)
	h := activation.Gelu(b.Dropout(affine(y, columns(w), bias)))
	return b.Dropout(b.Linear(name+"linear_2", h, b.Config.Hidden))
}
