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
		New: func(c Config) Network { return &jacobiConv{order: OwnOf[jacobiSettings](c).Order} }})
}

type jacobiSettings struct {
	polynomial
	dropRate
	Alpha float64 `help:"bound of the factors α tanh(η_i) that coefficients are products of" least:"1e-3" most:"100"`
	A     float64 `name:"jacobi-a" help:"first parameter of the Jacobi polynomials" least:"-0.99" most:"100"`
	B     float64 `name:"jacobi-b" help:"second parameter of the Jacobi polynomials" least:"-0.99" most:"100"`
}

// jacobiConv is JacobiConv (Wang and Zhang, "How Powerful are Spectral Graph Neural Networks", ICML 2022). It is a
// linear network: it has no activations. Each column of the logits has a filter of its own, and each filter is a
// polynomial of the adjacency. Parameters have the names of the authors' code, https://github.com/GraphPKU/JacobiConv:
//
//	H        = dropout'(dropout(X) W^T + b)               features X [n, features], H [n, outputs]
//	logits_c = Σ_{k=0..K} β_kc Π_{i=1..k} γ_i P_k(P) H_c  for each column c
//	γ_i      = α tanh(η_i)
//
// Here "outputs" is the number of logits of a node. H_c is column c of H, and logits_c is column c of the logits.
// P = D^-1/2 A D^-1/2 is the normalised adjacency without self loops. P_k is the Jacobi polynomial of degree k with the
// parameters a and b. The numbers β_kc and η_i are trained. The β_kc are the parameter comb.comb_weight, [1, K+1,
// outputs], and start at 1. The numbers η_1 … η_K are the parameters conv.alphas.0 … conv.alphas.K-1, and start at
// min(1/α, 1). The publication calls the products of the γ_i "polynomial coefficient decomposition". dropout' has a
// probability of its own, the setting "dprate".
//
// K is the setting "order", and its published value is 10. The authors search all other settings for each dataset. The
// defaults here are about the medians of the settings that they found: a = b = 1, α = 1, and a probability of 0.5 for
// dropout and for dropout'. The authors search separate learning rates and weight decays for W, η and β. Here W, η and
// β have the same learning rate and the same weight decay.
//
// Jacobi polynomials are computed by a recurrence. In the authors' code, the term of this recurrence with a² - b² has
// the wrong sign. If |a| and |b| differ, this changes all polynomials of degree 2 or more. Here the polynomials are the
// true Jacobi polynomials.
type jacobiConv struct {
	filterNet
	order int
}

// Unused implements [Twin]. It names two arrays that the authors' files of weights hold, but that this network does not
// read: the node features, and a number η_{K+1}, which the formula does not contain.
func (n *jacobiConv) Unused() []string {
	return []string{"emb.modlist.0.x", fmt.Sprintf("conv.alphas.%d", n.order)}
}

// Build implements [Network]. The representation, [n, outputs], is H of [jacobiConv].
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

// jacobi is the [basis] of the Jacobi polynomials P_0 … P_order with the parameters a and b. It holds the coefficients
// of their recurrence (Abramowitz and Stegun 1964, 22.7.1).
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
