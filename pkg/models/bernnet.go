package models

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
)

func init() {
	Register(Kind{Name: "bernnet", Title: "BernNet",
		Layer:     "Σ_k ReLU(θ_k) C(K,k)/2^K (2I − L)^(K−k) L^k H, θ_k learnt, H of a perceptron of two layers",
		Reference: "He et al., NeurIPS 2021", Shared: []string{"hidden", "dropout"}, DropFeatures: true,
		Own:      bernSettings{polynomial{10}, dropRate{0.5}},
		Defaults: func(c *Config) { c.Dropout = 0.5 }, Depth: filterDepth,
		// The authors' code has a batch normalisation that it never applies.
		Unused: func(Config) []string {
			return []string{"m.weight", "m.bias", "m.running_mean", "m.running_var", "m.num_batches_tracked"}
		},
		New: func(Config) Network { return &bernNet{} }})
}

type bernSettings struct {
	polynomial
	dropRate
}

// bernNet is BernNet (He, Wei, Huang and Xu, "BernNet: Learning Arbitrary Graph Spectral Filters via Bernstein
// Approximation", NeurIPS 2021). Parameters have the names of the authors' code, https://github.com/ivam-he/BernNet:
//
//	H      = dropout(ReLU(dropout(X) W1^T + b1)) W2^T + b2      features X [n, features], H [n, outputs]
//	logits = Σ_{k=0..K} ReLU(θ_k) C(K, k)/2^K (2I - L)^(K-k) L^k dropout'(H)
//
// L = I - P, P = D^-1/2 A D^-1/2 without self loops. The θ_k, prop1.temp, start at 1, where the sum is dropout'(H). dropout'
// has the probability "dprate". K and the width are published, dropout is from the code. The authors choose dprate, weight
// decay, and a learning rate of θ, which they do not decay, for each dataset.
//
// Term by term, the sum would take K(K+3)/2 products. As a polynomial of degree K in P, it is Σ_j c_j T_j(P) dropout'(H)
// with Chebyshev polynomials T_j and c = B^T ReLU(θ): K products. B is [bernstein], with entries within ±2, so that rounding
// errors stay small.
type bernNet struct{ filterNet }

// Build implements [Network]. The representation, [n, d], is dropout(ReLU(…)).
func (n *bernNet) Build(b *Builder) Output {
	h, x := b.perceptron()
	s := OwnOf[bernSettings](b.Config)
	x = b.DropoutOf(x, s.DropRate)
	theta := b.Param(Param{Name: "prop1.temp", Shape: []int{s.Order + 1}, Value: 1})
	theta = Reshape(Max(theta, ZerosLike(theta)), 1, -1)
	c := Dot(theta, ConvertDType(Const(b.Graph, bernstein(s.Order)), x.DType())).Product()
	y := chebyshev(s.Order).filter(b.Matrix(n.matrix), x, Reshape(c, -1, 1))
	return Output{Logits: y, Representation: h}
}

// bernstein is B, [K+1, K+1], of [bernNet]: row k has the weights of T_0(t) … T_K(t) whose sum is the k-th Bernstein
// polynomial, C(K,k)/2^K (1 + t)^(K-k) (1 - t)^k: the discrete cosine transform of its values at the K+1 zeros t = cos φ of
// T_{K+1}, which is exact for degrees up to K.
func bernstein(order int) [][]float64 {
	out := make([][]float64, order+1)
	for k := range out {
		out[k] = make([]float64, order+1)
		for m := range order + 1 {
			phi := math.Pi * (float64(m) + 0.5) / float64(order+1)
			value := binomial(order, k, math.Pow(math.Sin(phi/2), 2))
			for j := range out[k] {
				out[k][j] += value * math.Cos(float64(j)*phi) * 2 / float64(order+1)
			}
		}
		out[k][0] /= 2
	}
	return out
}

// binomial is C(n, k) p^k (1 - p)^(n-k), for 0 < p < 1.
func binomial(n, k int, p float64) float64 {
	log := func(m int) float64 { v, _ := math.Lgamma(float64(m) + 1); return v }
	return math.Exp(log(n) - log(k) - log(n-k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}
