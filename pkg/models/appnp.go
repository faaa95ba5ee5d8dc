package models

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
)

func init() {
	Register(Kind{Name: "appnp", Title: "APPNP",
		Layer:     "(1 − α) Â Z + α Z_0, K times, Z_0 of a perceptron of two layers",
		Reference: "Gasteiger et al., ICLR 2019", Shared: []string{"hidden", "dropout"}, DropFeatures: true,
		Own:      appnpSettings{polynomial{10}, teleport{0.1}},
		Defaults: func(c *Config) { c.Dropout = 0.5 }, Depth: filterDepth,
		New: func(Config) Network { return &appnp{filterNet{selfLoops: true}} }})
}

type appnpSettings struct {
	polynomial
	teleport
}

// appnp is APPNP, "approximate personalised propagation of neural predictions" (Gasteiger, Bojchevski and Günnemann,
// "Predict then Propagate", ICLR 2019), as a network of He et al. (NeurIPS 2021), whose results the paper's tables quote:
//
//	Z_0     = dropout(ReLU(dropout(X) W1^T + b1)) W2^T + b2      features X [n, features], Z_k [n, outputs]
//	Z_{k+1} = (1 - α) Â Z_k + α Z_0                              K times
//	logits  = Z_K
//
// Â = D^-1/2 (A + I) D^-1/2, D the degrees of A + I. The defaults are published. The parameters have the names of
// https://github.com/ivam-he/BernNet. The code of Gasteiger et al. applies weight decay to W1 alone, and drops entries of
// Â in every step. Z_K is a polynomial of Â times Z_0, with the coefficients [pageRank].
type appnp struct{ filterNet }

// Build implements [Network]. The representation, [n, d], is dropout(ReLU(…)).
func (a *appnp) Build(b *Builder) Output {
	h, z := b.perceptron()
	s := OwnOf[appnpSettings](b.Config)
	theta := ConvertDType(Const(b.Graph, pageRank(s.Order, s.Alpha)), z.DType())
	y := monomials(s.Order).filter(b.Matrix(a.matrix), z, Reshape(theta, -1, 1))
	return Output{Logits: y, Representation: h}
}

// pageRank are the coefficients of Â^0 … Â^K for K steps of [appnp]: α (1 - α)^k for k < K, and (1 - α)^K for k = K.
func pageRank(order int, alpha float64) []float64 {
	out := make([]float64, order+1)
	for k := range out {
		out[k] = alpha * math.Pow(1-alpha, float64(k))
	}
	out[order] = math.Pow(1-alpha, float64(order))
	return out
}
