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

// gprGNN is the generalised PageRank network of Chien, Peng, Li and Milenkovic ("Adaptive Universal Generalized PageRank
// Graph Neural Network", ICLR 2021). Parameters have the names of their code, https://github.com/jianhao2016/GPRGNN:
//
//	H      = dropout(ReLU(dropout(X) W1^T + b1)) W2^T + b2      features X [n, features], H [n, outputs]
//	logits = Σ_{k=0..K} γ_k Â^k dropout'(H)
//
// Â = D^-1/2 (A + I) D^-1/2, D the row sums of A + I. The γ_k, prop1.temp, start as in personalised PageRank: α (1 - α)^k
// for k < K, and (1 - α)^K for k = K. dropout' has the probability "dprate". The defaults are published; the authors
// search the learning rate, and α among 0.1, 0.2, 0.5 and 0.9, for each dataset, and do not decay the γ_k.
type gprGNN struct{ filterNet }

// Build implements [Network]. The representation is dropout(ReLU(dropout(X) W1^T + b1)), [n, d].
func (n *gprGNN) Build(b *Builder) Output {
	h, x := b.perceptron()
	s := OwnOf[gprSettings](b.Config)
	x = b.DropoutOf(x, s.DropRate)
	gamma := b.Param(Param{Name: "prop1.temp", Shape: []int{s.Order + 1}, Values: pageRank(s.Order, s.Alpha)})
	y := monomials(s.Order).filter(b.Matrix(n.matrix), x, Reshape(gamma, -1, 1))
	return Output{Logits: y, Representation: h}
}
