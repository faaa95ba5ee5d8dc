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
		New: func(Config) Network { return &bernNet{} }})
}

type bernSettings struct {
	polynomial
	dropRate
}

// bernNet is BernNet (He, Wei, Huang and Xu, "BernNet: Learning Arbitrary Graph Spectral Filters via Bernstein
// Approximation", NeurIPS 2021). The parameters have the names of the authors' code,
// https://github.com/ivam-he/BernNet. A perceptron of two layers computes H from the node features X. H is then
// multiplied by a trained polynomial of the Laplacian L:
//
//	H      = dropout(ReLU(dropout(X) W1^T + b1)) W2^T + b2      features X [n, features], H [n, outputs]
//	logits = Σ_{k=0..K} ReLU(θ_k) C(K, k)/2^K (2I - L)^(K-k) L^k dropout'(H)
//
// L = I - P, where P = D^-1/2 A D^-1/2. No self loops are added. C(K, k) is a binomial coefficient. The K+1 numbers θ_k
// are trained. They are the parameter prop1.temp. All θ_k start at 1, for which the sum equals dropout'(H). dropout'
// has a probability of its own, the setting "dprate".
//
// The defaults are the published K = 10 and width 64. Both dropout probabilities are 0.5, as in the authors' code. The
// authors choose dprate, the weight decay, and a learning rate for θ, separately for each dataset. They apply no weight
// decay to θ. Here all parameters have the same learning rate and weight decay.
//
// Computed term by term, the sum would take K(K+3)/2 products with L: 65 for K = 10. But the sum is a polynomial of
// degree K in P, multiplied by dropout'(H). Therefore it equals Σ_j c_j T_j(P) dropout'(H) with Chebyshev polynomials
// T_j. This takes only K products with P. The coefficients are c = B^T ReLU(θ), with a matrix B, [K+1, K+1], that
// [bernstein] computes. All entries of B are within ±2, so that rounding errors stay small.
type bernNet struct{ filterNet }

// Unused implements [Twin]. The authors' code creates a batch normalisation and never applies it. Unused returns the
// names of the arrays of this batch normalisation, which a file of the authors' weights may hold.
func (*bernNet) Unused() []string {
	return []string{"m.weight", "m.bias", "m.running_mean", "m.running_var", "m.num_batches_tracked"}
}

// Build implements [Network]. The representation, [n, d], is the input of the perceptron's second layer:
// dropout(ReLU(…)) in the formula of [bernNet].
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

// bernstein returns the matrix B of [bernNet], for the degree K that the argument order gives. For a number t in place
// of the matrix P, the k-th Bernstein polynomial is C(K,k)/2^K (1 + t)^(K-k) (1 - t)^k. It equals a weighted sum of the
// Chebyshev polynomials T_0(t) … T_K(t). Row k of B holds the weights of this sum.
//
// The weights are computed from the values of the Bernstein polynomial at K+1 points, the zeros t = cos φ of T_{K+1}.
// The discrete cosine transform of these values gives the weights exactly, since the degree is at most K.
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
