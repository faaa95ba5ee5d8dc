package models

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/layers/activation"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	Register(Kind{Name: "sage", Title: "SAGE",
		Layer:     "X + W2 GELU(W1 [Z, mean of neighbours' Z] + b1) + b2, Z = LayerNorm(X)",
		Reference: "Hamilton et al., NeurIPS 2017, as in Platonov et al., ICLR 2023",
		Shared:    []string{"forward", "hidden", "dropout"},
		Own: OwnSettings(sageSettings{Multiplier: 1}, func(s *sageSettings) []Setting {
			return []Setting{{Name: "hidden-dim-multiplier", Value: &s.Multiplier,
				Help: "width between the two linear maps of a layer, in widths of a layer", Least: 1, Most: 64}}
		}),
		// As Platonov et al., but for the width: theirs is 512, for GPUs; 64 is this project's, for small machines.
		Defaults: func(c *Config) { c.Forward, c.Hidden, c.Dropout = 5, 64, 0.2 },
		New:      func(Config) Network { return &sage{} }})
}

// sageSettings are what GraphSAGE has beside the shared settings: m, the "hidden dimension multiplier".
type sageSettings struct{ Multiplier int }

// sage is GraphSAGE (Hamilton et al., NeurIPS 2017) as in Platonov et al., "A critical look at the evaluation of GNNs
// under heterophily" (ICLR 2023), and with the parameters' names of their code,
// https://github.com/yandex-research/heterophilous-graphs:
//
//	X_0     = GELU(dropout(F W^T + b))            features F [n, features], X_l [n, d]
//	Z_l     = LayerNorm(X_l)                      [n, d]
//	X_{l+1} = X_l + FFN([Z_l, D^-1 A Z_l])        concatenated columns, [n, 2d]
//	FFN(Y)  = dropout(GELU(dropout(Y W1^T + b1)) W2^T + b2)
//	logits  = LayerNorm(X_L) W^T + b              [n, outputs]
//
// A is without self loops, so that D^-1 A is the mean over neighbours, which is 0 for a node that has none. W1 is
// [m d, 2d] and W2 [d, m d], each layer's its own. GELU is x Φ(x) with the normal distribution function Φ itself
// (Hendrycks and Gimpel 2016), as torch.nn.GELU.
type sage struct{ mean *sparse.Matrix }

// Prepare lays out D^-1 A, [n, n].
func (s *sage) Prepare(g *graphs.Graph) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	if s.mean, err = sparse.NewMatrix(sparse.Adjacency(g).RowNormalised(), nil); err != nil {
		return nil, nil, err
	}
	return s.mean.Order(), s.mean.Tensors(), nil
}

// Build is the network; its representation, [n, d], is the normalised one that the last linear map reads.
func (s *sage) Build(b *Builder) Output {
	mean, width := s.mean.On(b.Arrays), b.Config.Hidden
	inner := OwnOf[sageSettings](b.Config).Multiplier * width
	x := activation.Gelu(b.Dropout(b.Encode("input_linear", width)))
	for l := range b.Config.Forward {
		layer := fmt.Sprintf("residual_modules.%d.", l)
		z := b.LayerNorm(layer+"normalization", x)
		ffn := layer + "module.feed_forward_module."
		h := b.Linear(ffn+"linear_1", Concatenate([]*Node{z, mean.Product(z)}, -1), inner)
		h = b.Linear(ffn+"linear_2", activation.Gelu(b.Dropout(h)), width)
		x = Add(x, b.Dropout(h))
	}
	x = b.LayerNorm("output_normalization", x)
	return Output{Logits: b.Linear("output_linear", x, b.Outputs), Representation: x}
}
