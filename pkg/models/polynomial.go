package models

import (
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// basis describes polynomials p_0, p_1, …, p_K of a matrix P by a recurrence. It begins with p_0 = 1. Each further
// polynomial is computed from the two before it, by one product with P:
//
//	p_{k+1}(P) = (a_k P + b_k) p_k(P) - c_k p_{k-1}(P)
//
// Row k of basis holds the numbers a_k, b_k and c_k, for k = 0 … K-1. There is no p_{-1}, so that c_0 is 0.
type basis [][3]float64

// monomials is the [basis] of the powers P^0 … P^order of a matrix P.
func monomials(order int) basis {
	return slices.Repeat(basis{{1, 0, 0}}, order)
}

// chebyshev is the [basis] of the Chebyshev polynomials of the first kind, T_0 … T_order.
func chebyshev(order int) basis {
	out := slices.Repeat(basis{{2, 0, 1}}, order)
	out[0] = [3]float64{1, 0, 0}
	return out
}

// filter is Σ_k p_k(P) x diag(θ_k), [n, d], for x, [n, d], and a symmetric matrix P, [n, n]. theta, [K+1, d] or [K+1,
// 1], has the θ_k as rows.
//
// If v is the cotangent of the result, that of x is the same filter of v, and that of θ_k the sum of the rows of x ∘
// p_k(P) v. So both passes take K products with P, in a loop that is compiled once (GPR-GNN on Tolokers: 8 s, and 44 s
// without the loop, on a busy machine).
func (b basis) filter(p sparse.Operator, x, theta *Node) *Node {
	var rows [][]float64 // the basis in a type that Const accepts
	for _, row := range b {
		rows = append(rows, row[:])
	}
	theta = BroadcastToDims(theta, len(b)+1, x.Shape().Dimensions[1])
	in := filtered{theta: StopGradient(theta), basis: ConvertDType(Const(x.Graph(), rows), x.DType()),
		x: StopGradient(x), p: p}
	y := b.run(in, in.x, false)
	return loop.Custom(y[0], []*Node{x, theta}, func(v *Node) []*Node { return b.run(in, v, true) })
}

// filtered is what the loop of [basis.run] reads.
type filtered struct {
	theta, basis, x *Node
	p               sparse.Operator
}

// run is the filter of v, [n, d]. With back, v is the cotangent of the filter's result, and run also returns that of θ,
// [K+1, d].
func (b basis) run(in filtered, v *Node, back bool) []*Node {
	type state struct {
		now, before, sum *Node
		dots             []*Node // the cotangents of θ if back is set, else none
	}
	s := state{now: v, before: loop.Zeros(v), sum: Mul(v, Slice(in.theta, AxisElem(0)))}
	if back {
		s.dots = []*Node{putRow(loop.Zeros(in.theta), loop.Sum(Mul(v, in.x)), loop.Int(v.Graph(), 0))}
	}
	s = loop.Repeat(loop.Int(v.Graph(), len(b)), s, in, func(k *Node, s state, in filtered) state {
		abc := Reshape(takeRow(in.basis, k), 3)
		at := func(i int) *Node { return Reshape(Slice(abc, AxisElem(i))) }
		next := Add(loop.Scale(in.p.Product(s.now), at(0)), loop.Scale(s.now, at(1)))
		next = Sub(next, loop.Scale(s.before, at(2)))
		k = Add(k, loop.Int(k.Graph(), 1))
		to := state{now: next, before: s.now, sum: Add(s.sum, Mul(next, takeRow(in.theta, k)))}
		if back {
			to.dots = []*Node{putRow(s.dots[0], loop.Sum(Mul(next, in.x)), k)}
		}
		return to
	})
	return append([]*Node{s.sum}, s.dots...)
}

// takeRow is row k of the table, [rows, d], as [1, d].
func takeRow(table, k *Node) *Node { return Gather(table, Reshape(k, 1, 1)) }

// putRow replaces row k of a copy of the table, [rows, d], by values, [d].
func putRow(table, values, k *Node) *Node {
	places := Iota(table.Graph(), shapes.Make(k.DType(), table.Shape().Dimensions...), 0)
	values = BroadcastToShape(Reshape(values, 1, values.Shape().Size()), table.Shape())
	return Where(Equal(places, loop.Like(k, places)), values, table)
}

// polynomial, teleport and dropRate are groups of settings that several networks have.
type polynomial struct {
	Order int `help:"degree K of the polynomial of the adjacency" least:"1" most:"1000"`
}

type teleport struct {
	Alpha float64 `help:"probability of returning to its start in each step of a random walk" least:"1e-3" most:"1"`
}

type dropRate struct {
	DropRate float64 `name:"dprate" help:"dropout of what is propagated" most:"0.99" absent:"0"`
}

// filterDepth is K.
func filterDepth(c Config) string { return fmt.Sprint(c.Value("order")) }

func init() {
	Register(Kind{Name: "mlp", Weighted: true, Title: "MLP", Layer: "ReLU(X W1 + b1) W2 + b2, of each node by itself",
		Reference: "as in He et al., NeurIPS 2021", Shared: []string{"hidden", "dropout"}, DropFeatures: true,
		Defaults: func(c *Config) { c.Dropout = 0.5 }, Depth: func(Config) string { return "2" },
		New: func(Config) Network { return mlp{} }})
}

// mlp is a perceptron of two layers, as in He et al. (NeurIPS 2021), with their width and dropout. The parameters have
// the names of their code, https://github.com/ivam-he/BernNet:
//
//	H      = dropout(ReLU(dropout(X) W1^T + b1))   features X [n, features], H [n, d]
//	logits = H W2^T + b2                           [n, outputs]
type mlp struct{}

func (mlp) Prepare(*graphs.Graph, *Arrays) {}

// Build implements [Network]. The representation is H.
func (mlp) Build(b *Builder) Output {
	h, logits := b.perceptron()
	return Output{Logits: logits, Representation: h}
}

// perceptron is H and the logits of [mlp], with which APPNP, GPR-GNN and BernNet begin, too.
func (b *Builder) perceptron() (h, logits *Node) {
	x := b.Encode("lin1", b.Config.Hidden)
	h = b.Dropout(relu(x))
	return h, b.Linear("lin2", h, b.Outputs)
}

func init() {
	Register(Kind{Name: "appnp", Weighted: true, Title: "APPNP",
		Layer:     "(1 − α) Â Z + α Z_0, K times, Z_0 of a perceptron of two layers",
		Reference: "Gasteiger et al., ICLR 2019", Shared: []string{"hidden", "dropout"}, DropFeatures: true,
		Own:      appnpSettings{polynomial{10}, teleport{0.1}},
		Defaults: func(c *Config) { c.Dropout = 0.5 }, Depth: filterDepth,
		New: withMatrix(symmetricWithLoops, appnp)})
}

type appnpSettings struct {
	polynomial
	teleport
}

// appnp is APPNP, "approximate personalised propagation of neural predictions" (Gasteiger, Bojchevski and Günnemann,
// "Predict then Propagate", ICLR 2019), as a network of He et al. (NeurIPS 2021), whose results the paper's tables
// quote:
//
//	Z_0     = dropout(ReLU(dropout(X) W1^T + b1)) W2^T + b2      features X [n, features], Z_k [n, outputs]
//	Z_{k+1} = (1 - α) Â Z_k + α Z_0                              K times
//	logits  = Z_K
//
// Â = D^-1/2 (A + I) D^-1/2, D the degrees of A + I. The defaults are published. The parameters have the names of
// https://github.com/ivam-he/BernNet. The code of Gasteiger et al. applies weight decay to W1 alone, and drops entries
// of Â in every step. Z_K is a polynomial of Â times Z_0, with the coefficients [pageRank].
//
// The representation, [n, d], is dropout(ReLU(…)).
func appnp(b *Builder, p sparse.Operator) Output {
	h, z := b.perceptron()
	s := OwnOf[appnpSettings](b.Config)
	theta := ConvertDType(Const(b.Graph, pageRank(s.Order, s.Alpha)), z.DType())
	y := monomials(s.Order).filter(p, z, Reshape(theta, -1, 1))
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

func init() {
	Register(Kind{Name: "gpr-gnn", Weighted: true, Title: "GPR-GNN",
		Layer:     "Σ_k γ_k Â^k H, γ_k learnt, H of a perceptron of two layers",
		Reference: "Chien et al., ICLR 2021", Shared: []string{"hidden", "dropout"}, DropFeatures: true,
		Own:      gprSettings{polynomial{10}, teleport{0.1}, dropRate{0.5}},
		Defaults: func(c *Config) { c.Dropout = 0.5 }, Depth: filterDepth,
		New: withMatrix(symmetricWithLoops, gprGNN)})
}

type gprSettings struct {
	polynomial
	teleport
	dropRate
}

// gprGNN is the generalised PageRank network of Chien, Peng, Li and Milenkovic ("Adaptive Universal Generalized
// PageRank Graph Neural Network", ICLR 2021). Parameters have the names of their code,
// https://github.com/jianhao2016/GPRGNN:
//
//	H      = dropout(ReLU(dropout(X) W1^T + b1)) W2^T + b2      features X [n, features], H [n, outputs]
//	logits = Σ_{k=0..K} γ_k Â^k dropout'(H)
//
// Â = D^-1/2 (A + I) D^-1/2, D the row sums of A + I. The γ_k, prop1.temp, start as in personalised PageRank: α (1 -
// α)^k for k < K, and (1 - α)^K for k = K. dropout' has the probability "dprate". The defaults are published; the
// authors search the learning rate, and α among 0.1, 0.2, 0.5 and 0.9, for each dataset, and do not decay the γ_k.
//
// The representation is dropout(ReLU(dropout(X) W1^T + b1)), [n, d].
func gprGNN(b *Builder, p sparse.Operator) Output {
	h, x := b.perceptron()
	s := OwnOf[gprSettings](b.Config)
	x = b.DropoutOf(x, s.DropRate)
	gamma := b.Param(Param{Name: "prop1.temp", Shape: []int{s.Order + 1}, Values: pageRank(s.Order, s.Alpha)})
	y := monomials(s.Order).filter(p, x, Reshape(gamma, -1, 1))
	return Output{Logits: y, Representation: h}
}

func init() {
	Register(Kind{Name: "bernnet", Weighted: true, Title: "BernNet",
		Layer:     "Σ_k ReLU(θ_k) C(K,k)/2^K (2I − L)^(K−k) L^k H, θ_k learnt, H of a perceptron of two layers",
		Reference: "He et al., NeurIPS 2021", Shared: []string{"hidden", "dropout"}, DropFeatures: true,
		Own:      bernSettings{polynomial{10}, dropRate{0.5}},
		Defaults: func(c *Config) { c.Dropout = 0.5 }, Depth: filterDepth,
		// The authors' code has a batch normalisation that it never applies.
		Unused: func(Config) []string {
			return []string{"m.weight", "m.bias", "m.running_mean", "m.running_var", "m.num_batches_tracked"}
		},
		New: withMatrix(symmetric, bernNet)})
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
// L = I - P, P = D^-1/2 A D^-1/2 without self loops. The θ_k, prop1.temp, start at 1, where the sum is dropout'(H).
// dropout' has the probability "dprate". K and the width are published, dropout is from the code. The authors choose
// dprate, weight decay, and a learning rate of θ, which they do not decay, for each dataset.
//
// Term by term, the sum would take K(K+3)/2 products. As a polynomial of degree K in P, it is Σ_j c_j T_j(P)
// dropout'(H) with Chebyshev polynomials T_j and c = B^T ReLU(θ): K products. B is [bernstein], with entries within ±2,
// so that rounding errors stay small.
//
// The representation, [n, d], is dropout(ReLU(…)).
func bernNet(b *Builder, p sparse.Operator) Output {
	h, x := b.perceptron()
	s := OwnOf[bernSettings](b.Config)
	x = b.DropoutOf(x, s.DropRate)
	theta := b.Param(Param{Name: "prop1.temp", Shape: []int{s.Order + 1}, Value: 1})
	theta = Reshape(relu(theta), 1, -1)
	c := Dot(theta, ConvertDType(Const(b.Graph, bernstein(s.Order)), x.DType())).Product()
	y := chebyshev(s.Order).filter(p, x, Reshape(c, -1, 1))
	return Output{Logits: y, Representation: h}
}

// bernstein is B, [K+1, K+1], of [bernNet]: row k has the weights of T_0(t) … T_K(t) whose sum is the k-th Bernstein
// polynomial, C(K,k)/2^K (1 + t)^(K-k) (1 - t)^k: the discrete cosine transform of its values at the K+1 zeros t = cos
// φ of T_{K+1}, which is exact for degrees up to K.
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

func init() {
	Register(Kind{Name: "jacobiconv", Weighted: true, Title: "JacobiConv",
		Layer:     "Σ_k diag(β_k) Π_{i≤k} α tanh(η_i) P_k(D^-1/2 A D^-1/2) (X W + b), P_k Jacobi polynomials",
		Reference: "Wang and Zhang, ICML 2022", Shared: []string{"dropout"}, DropFeatures: true,
		Own:      jacobiSettings{polynomial{10}, dropRate{0.5}, 1, 1, 1},
		Defaults: func(c *Config) { c.Dropout = 0.5 }, Depth: filterDepth,
		// The authors' files also have the node features, and η_{K+1}.
		Unused: func(c Config) []string {
			return []string{"emb.modlist.0.x", fmt.Sprintf("conv.alphas.%d", OwnOf[jacobiSettings](c).Order)}
		},
		New: withMatrix(symmetric, jacobiConv)})
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
// P = D^-1/2 A D^-1/2 has no self loops. P_k is the Jacobi polynomial of degree k with the parameters a and b. The
// β_kc, comb.comb_weight [1, K+1, outputs], start at 1, and the η_i, conv.alphas.i-1, at min(1/α, 1). (The publication
// calls the products of the γ_i "polynomial coefficient decomposition".) dropout' has the probability "dprate".
//
// K = 10 is published. The other defaults are about the medians of what the authors found for each dataset; they search
// separate learning rates and weight decays for W, η and β. Their recurrence has the wrong sign at a² - b², which
// matters if |a| and |b| differ; here, polynomials are the true Jacobi polynomials.
//
// The representation, [n, outputs], is H.
func jacobiConv(b *Builder, p sparse.Operator) Output {
	s := OwnOf[jacobiSettings](b.Config)
	h := b.DropoutOf(b.Encode("emb.modlist.2", b.Outputs), s.DropRate)
	beta := b.Param(Param{Name: "comb.comb_weight", Shape: []int{1, s.Order + 1, b.Outputs}, Value: 1})
	products := []*Node{Ones(b.Graph, shapes.Make(beta.DType(), 1, 1))} // products[k] is γ_1 … γ_k
	for i := range s.Order {
		eta := b.Param(Param{Name: fmt.Sprintf("conv.alphas.%d", i), Shape: []int{}, Value: min(1/s.Alpha, 1)})
		products = append(products, Mul(products[i], Reshape(MulScalar(Tanh(eta), s.Alpha), 1, 1)))
	}
	theta := Mul(Reshape(beta, s.Order+1, b.Outputs), Concatenate(products, 0))
	y := jacobi(s.Order, s.A, s.B).filter(p, h, theta)
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
