package models

import (
	"fmt"

	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

func init() {
	Register(Kind{Name: "jacobiconv", Title: "JacobiConv",
		Layer:     "Σ_k diag(β_k) Π_{i≤k} α tanh(η_i) P_k(D^-1/2 A D^-1/2) (X W + b), P_k Jacobi polynomials",
		Reference: "Wang and Zhang, ICML 2022", Shared: []string{"dropout"}, DropFeatures: true,
		Own:      jacobiSettings{polynomial{10}, dropRate{0.5}, 1, 1, 1},
		Defaults: func(c *Config) { c.Dropout = 0.5 }, Depth: filterDepth,
		// The authors' files also have the node features, and η_{K+1}.
		Unused: func(c Config) []string {
			return []string{"emb.modlist.0.x", fmt.Sprintf("conv.alphas.%d", OwnOf[jacobiSettings](c).Order)}
		},
		New: func(Config) Network { return &jacobiConv{} }})
}

type jacobiSettings struct {
	polynomial
	dropRate
	Alpha float64 `help:"bound of the factors α tanh(η_i) that coefficients are products of" least:"1e-3" most:"100"`
	A     float64 `name:"jacobi-a" help:"first parameter of the Jacobi polynomials" least:"-0.99" most:"100"`
	B     float64 `name:"jacobi-b" help:"second parameter of the Jacobi polynomials" least:"-0.99" most:"100"`
}

// jacobiConv is JacobiConv (Wang and Zhang, "How Powerful are Spectral Graph Neural Networks", ICML 2022), a linear
// network in which each column c of the logits has a polynomial filter of its own. Parameters have the names of the
// authors' code, https://github.com/GraphPKU/JacobiConv:
//
//	H        = dropout'(dropout(X) W^T + b)               features X [n, features], H [n, outputs]
//	logits_c = Σ_{k=0..K} β_kc Π_{i=1..k} γ_i P_k(P) H_c  for each column c
//	γ_i      = α tanh(η_i)
//
// P = D^-1/2 A D^-1/2 has no self loops. P_k is the Jacobi polynomial of degree k with the parameters a and b. The β_kc,
// comb.comb_weight [1, K+1, outputs], start at 1, and the η_i, conv.alphas.i-1, at min(1/α, 1). (The publication calls the
// products of the γ_i "polynomial coefficient decomposition".) dropout' has the probability "dprate".
//
// K = 10 is published. The other defaults are about the medians of what the authors found for each dataset; they search
// separate learning rates and weight decays for W, η and β. Their recurrence has the wrong sign at a² - b², which matters
// if |a| and |b| differ; here, polynomials are the true Jacobi polynomials.
type jacobiConv struct{ filterNet }

// Build implements [Network]. The representation, [n, outputs], is H.
func (n *jacobiConv) Build(b *Builder) Output {
	s := OwnOf[jacobiSettings](b.Config)
	h := b.DropoutOf(b.Encode("emb.modlist.2", b.Outputs), s.DropRate)
	beta := b.Param(Param{Name: "comb.comb_weight", Shape: []int{1, s.Order + 1, b.Outputs}, Value: 1})
	products := []*Node{Ones(b.Graph, shapes.Make(beta.DType(), 1, 1))} // products[k] is γ_1 … γ_k
	for i := range s.Order {
		eta := b.Param(Param{Name: fmt.Sprintf("conv.alphas.%d", i), Shape: []int{}, Value: min(1/s.Alpha, 1)})
		products = append(products, Mul(products[i], Reshape(MulScalar(Tanh(eta), s.Alpha), 1, 1)))
	}
	theta := Mul(Reshape(beta, s.Order+1, b.Outputs), Concatenate(products, 0))
	y := jacobi(s.Order, s.A, s.B).filter(b.Matrix(n.matrix), h, theta)
	return Output{Logits: y, Representation: h}
}

// jacobi is the [basis] of the Jacobi polynomials P_0 … P_order, by Abramowitz and Stegun 1964, 22.7.1.
func jacobi(order int, a, b float64) basis {
	out := basis{{(a + b + 2) / 2, (a - b) / 2, 0}}
	for k := 2; k <= order; k++ {
		n := float64(k)
		s := 2*n + a + b
		of := 2 * n * (n + a + b) * (s - 2)
		out = append(out, [3]float64{(s - 1) * s * (s - 2) / of, (s - 1) * (a*a - b*b) / of,
			2 * (n + a - 1) * (n + b - 1) * s / of})
	}
	return out
}
