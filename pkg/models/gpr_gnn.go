package models

import (
	. "github.com/gomlx/gomlx/core/graph"
)

func init() {
	Register(Kind{Name: "gpr-gnn", Title: "GPR-GNN",
		Layer:     "Σ_k γ_k Â^k H, γ_k learnt, H of a perceptron of two layers",
		Reference: "Chien et al., ICLR 2021", Shared: []string{"hidden", "dropout"}, DropFeatures: true,
		Own:      gprSettings{polynomial{10}, teleport{0.1}, dropRate{0.5}},
		Defaults: func(c *Config) { c.Dropout = 0.5 }, Depth: filterDepth,
		New: func(Config) Network { return &gprGNN{filterNet{selfLoops: true}} }})
}

type gprSettings struct {
	polynomial
	teleport
	dropRate
}

// gprGNN is the generalised PageRank network of Chien, Peng, Li and Milenkovic ("Adaptive Universal Generalized
// PageRank Graph Neural Network", ICLR 2021). The parameters have the names of the authors' code,
// https://github.com/jianhao2016/GPRGNN:
//
//	H      = dropout(ReLU(dropout(X) W1^T + b1)) W2^T + b2      features X [n, features], H [n, outputs]
//	logits = Σ_{k=0..K} γ_k Â^k dropout'(H)
//
// Here "outputs" is the number of logits of a node. Â = D^-1/2 (A + I) D^-1/2, where the diagonal matrix D holds the
// row sums of A + I. The γ_k are K+1 trained numbers, the parameter prop1.temp. They start with the coefficients of
// personalised PageRank: α (1 - α)^k for k < K, and (1 - α)^K for k = K. K is the setting "order", and α is the setting
// "alpha". dropout' has a probability of its own, the setting "dprate". The defaults are the published values: K = 10,
// α = 0.1, width 64, and a probability of 0.5 for dropout and for dropout'. For each dataset, the authors search the
// learning rate, and α among 0.1, 0.2, 0.5 and 0.9.
//
// The authors' code applies no weight decay to the γ_k. Here all parameters have the same weight decay and learning
// rate.
type gprGNN struct{ filterNet }

// Build implements [Network] by the formulas at [gprGNN]. The representation is dropout(ReLU(dropout(X) W1^T + b1)),
// [n, d].
func (n *gprGNN) Build(b *Builder) Output {
	h, x := b.perceptron()
	s := OwnOf[gprSettings](b.Config)
	x = b.DropoutOf(x, s.DropRate)
	gamma := b.Param(Param{Name: "prop1.temp", Shape: []int{s.Order + 1}, Values: pageRank(s.Order, s.Alpha)})
	y := monomials(s.Order).filter(b.Matrix(n.matrix), x, Reshape(gamma, -1, 1))
	return Output{Logits: y, Representation: h}
}
