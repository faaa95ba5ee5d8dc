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
// really making progress?" (ICLR 2023). A layer consists of one or several modules M_k, each with a layer normalisation
// before it and a skip connection around it. Modules are numbered from k = 0 through all layers, and K is their number.
// Parameters have the names of the authors' code, https://github.com/yandex-research/heterophilous-graphs:
//
//	X_0     = GELU(dropout(F W^T + b))            features F [n, features], X_k [n, d]
//	X_{k+1} = X_k + M_k(LayerNorm(X_k))
//	logits  = LayerNorm(X_K) W^T + b              [n, outputs]
//
// GELU is x Φ(x) with the exact normal distribution function Φ (Hendrycks and Gimpel 2016), as torch.nn.GELU.
type platonov struct{ messages }

// messages is the part in which the networks of the form [platonov] differ: the arrays that they need, and the modules.
type messages interface {
	Prepare(g *graphs.Graph) (sparse.Order, []*tensors.Tensor, error)
	// modules lists the modules of one layer.
	modules() []module
}

// module is a module M_k of [platonov]. It takes z = LayerNorm(X_k), [n, d], and its result has the same shape. The
// second argument is the string with which the names of the module's parameters begin.
type module func(b *Builder, name string, z *Node) *Node

// platonovSettings are the settings that the networks of the form [platonov] have besides the shared settings.
// Multiplier is the number m of [feedForward], which the authors call "hidden dimension multiplier".
type platonovSettings struct{ Multiplier int }

// registerPlatonov registers a kind of model whose network is a [platonov]. It fills in the fields of k that all these
// kinds have in common. The function network makes the part in which their networks differ. The argument shared lists
// the names of further shared settings (see package models) that the kind k has, such as "heads".
func registerPlatonov(k Kind, network func() messages, shared ...string) {
	k.Reference += "as in Platonov et al., ICLR 2023"
	k.Shared = slices.Concat([]string{"forward", "hidden", "dropout"}, shared)
	k.Own = OwnSettings(platonovSettings{Multiplier: 1}, func(s *platonovSettings) []Setting {
		return []Setting{{Name: "hidden-dim-multiplier", Value: &s.Multiplier,
			Help: "width between the two linear maps of a layer, in widths of a layer", Least: 1, Most: 64}}
	})
	// The defaults are those of Platonov et al., except for the width: theirs is 512, for GPUs, and 64 is for small
	// machines.
	k.Defaults = func(c *Config) { c.Forward, c.Hidden, c.Heads, c.Dropout = 5, 64, 8, 0.2 }
	k.New = func(Config) Network { return platonov{network()} }
	Register(k)
}

// Build implements [Network] by the formula at [platonov]. The representation is LayerNorm(X_K), [n, d].
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

// feedForwardOf is [feedForward] for a Y whose columns are in another order than the columns of the parameter W1. The
// last argument is a function that returns W1 with its columns in the order of Y's columns.
func feedForwardOf(b *Builder, name string, y *Node, columns func(w *Node) *Node) *Node {
	inner := OwnOf[platonovSettings](b.Config).Multiplier * b.Config.Hidden
	w, bias := b.linear(name+"linear_1", y.Shape().Dimensions[1], inner)
	h := activation.Gelu(b.Dropout(affine(y, columns(w), bias)))
	return b.Dropout(b.Linear(name+"linear_2", h, b.Config.Hidden))
}
