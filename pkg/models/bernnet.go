package models

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
)

func init() {
	Register(Kind{Name: "bernnet", Title: "BernNet",
		Layer:     "Σ_k ReLU(θ_k) C(K,k)/2^K (2I − L)^(K−k) L^k H, θ_k learnt, H of a perceptron of two layers",
		Reference: "He et al., NeurIPS 2021", Shared: []string{"hidden", "dropout"}, DropFeatures: true,
		Own: OwnSettings(filterSettings{Order: 10, DropRate: 0.5}, func(s *filterSettings) []Setting {
			return []Setting{s.order(), s.dropRate()}
		}),
		Defaults: func(c *Config) { c.Dropout = 0.5 }, Depth: filterDepth,
		New: func(Config) Network { return &bernNet{} }})
}

// bernNet is BernNet (He, Wei, Huang and Xu, "BernNet: Learning Arbitrary Graph Spectral Filters via Bernstein
// Approximation", NeurIPS 2021). The parameters have the names of the authors' code,
// https://github.com/ivam-he/BernNet:
//
//	H      = dropout(ReLU(dropout(X) W1^T + b1)) W2^T + b2      features X [n, features], H [n, outputs]
//	logits = Σ_{k=0..K} ReLU(θ_k) C(K, k)/2^K (2I - L)^(K-k) L^k dropout'(H)
//
// L = I - P, with P = D^-1/2 A D^-1/2 without self loops. C(K, k) is a binomial coefficient. The θ_k are K+1 trained
// numbers, the parameter prop1.temp. All θ_k start at 1, for which the sum equals dropout'(H). dropout' has a
// probability of its own, the setting "dprate". The defaults are the published K = 10 and width 64, and the code's 0.5
// for both probabilities. For each dataset, the authors choose dprate, the weight decay, and a learning rate for θ.
// They apply no weight decay to θ. Here all parameters have the same learning rate and weight decay.
//
// Computed term by term, the sum would take K(K+3)/2 products with L: 65 for K = 10. But the sum is a polynomial of
// degree K in P. Therefore it equals Σ_j c_j T_j(P) with Chebyshev polynomials T_j, which takes K products. The
// coefficients are c = B^T ReLU(θ), where the matrix B, [K+1, K+1], expresses Bernstein polynomials by Chebyshev
// polynomials: see [bernstein]. All eigenvalues of P are within ±1, and both kinds of polynomials have values within ±1
// there. So the conversion loses no precision. A conversion to powers of P would lose precision.
type bernNet struct{ filterNet }

// Unused implements [Twin]. It returns the names of the parameters of a batch normalisation, which the authors' code
// makes and does not call.
func (*bernNet) Unused() []string {
	return []string{"m.weight", "m.bias", "m.running_mean", "m.running_var", "m.num_batches_tracked"}
}

// Build implements [Network]. The representation, [n, d], is the result of the perceptron's first layer.
func (n *bernNet) Build(b *Builder) Output {
	h, x := b.perceptron()
	s := OwnOf[filterSettings](b.Config)
	x = b.DropoutOf(x, s.DropRate)
	theta := b.Param(Param{Name: "prop1.temp", Shape: []int{s.Order + 1}, Value: 1})
	theta = Reshape(Max(theta, ZerosLike(theta)), 1, -1)
	c := Dot(theta, ConvertDType(Const(b.Graph, bernstein(s.Order)), x.DType())).Product()
	y := chebyshev(s.Order).filter(n.matrix, b.Arrays, x, Reshape(c, -1, 1))
	return Output{Logits: y, Representation: h}
}

// bernstein returns the matrix B of [bernNet]. For a number t in place of P, the k-th Bernstein polynomial of degree K
// is C(K,k)/2^K (1 + t)^(K-k) (1 - t)^k. It equals a weighted sum of the Chebyshev polynomials T_0(t) … T_K(t). Row k
// of B holds the weights. They are computed by the discrete cosine transform from the values of the Bernstein
// polynomial at the K+1 zeros t = cos φ of T_{K+1}. This transform is exact up to degree K.
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

// binomial returns the binomial probability C(n, k) p^k (1 - p)^(n-k), for 0 < p < 1.
func binomial(n, k int, p float64) float64 {
	log := func(m int) float64 { v, _ := math.Lgamma(float64(m) + 1); return v }
	return math.Exp(log(n) - log(k) - log(n-k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}
