package models

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	Register(Kind{Name: "glognn", Title: "GloGNN",
		Layer:     "(1-γ) Z X + γ X_0, Z the least squares solution of X = (1-γ) Z X + γ X_0 near Σ λ_k P^k",
		Reference: "Li et al., ICML 2022",
		Shared:    []string{"forward", "hidden", "dropout"},
		Own:       glognnSettings{Beta: 1, Gamma: 0.5, Delta: 0.5, Order: 2},
		Defaults:  func(c *Config) { c.Forward, c.Hidden, c.Dropout = 2, 64, 0.5 },
		New:       func(Config) Network { return &glognn{} }})
}

// glognnSettings are GloGNN's own settings, with the names of the authors' code: β_1, β_2, γ, 1-α and K.
type glognnSettings struct {
	Alpha float64 `help:"weight of ‖Z‖²" most:"unlimited"`
	Beta  float64 `help:"weight of Z's distance from powers of the adjacency" least:"positive" most:"unlimited"`
	Gamma float64 `help:"share of the first embedding in every layer" most:"0.99"`
	Delta float64 `help:"share of the features, beside the adjacency, in the first embedding" most:"1"`
	Order int     `help:"highest power of the adjacency" least:"1" most:"64"`
}

// glognn is GloGNN (Li et al., "Finding Global Homophily in Graph Neural Networks When Meeting Heterophily", ICML
// 2022). In each of L layers, every node reads all nodes, with weights Z_l by least squares. With c classes and width
// d:
//
//	X_0     = ReLU(δ (F W1^T + b1) + (1-δ) (P W3^T + b3)) W2^T + b2    F [n, m], W1 [d, m], W3 [d, n], W2 [c, d]
//	Z_l     = argmin_Z ‖X_l - (1-γ) Z X_l - γ X_0‖² + β1 ‖Z‖² + β2 ‖Z - Σ_k λ_k P^k‖²    Frobenius norms, k = 1 … K
//	X_{l+1} = (1-γ) Z_l X_l + γ X_0                                     [n, c]
//	logits  = X_L
//
// P is (D+I)^-1 (A+I). λ, [K, 1], is trained, starts at 1/K, and is the same in all layers. Dropout acts on the result
// of ReLU. In closed form, with β = β1 + β2, and X and Z for X_l and Z_l,
//
//	Z = [(1-γ) (X - γ X_0) X^T + β2 Σ_k λ_k P^k] [(1-γ)² X X^T + β I]^-1
//
// Only Z X is needed, without any dense [n, n] matrix, since [a X X^T + β I]^-1 X = X [a X^T X + β I]^-1:
//
//	Q       = (1-γ) X M^-1, M = (1-γ)² X^T X + β I                      [n, c] and [c, c]
//	X_{l+1} = (1-γ) (X - γ X_0) X^T Q + β2 Σ_k λ_k P^k Q + γ X_0
//
// (The publication has Q as a difference, by Woodbury's identity, which differs by rounding only.)
//
// The parameters have the names of the authors' code, https://github.com/RecklessRonan/GloGNN, small-scale/main.py.
// X_0, which the publication leaves open, is that of this code. (Their code for large graphs has A in place of P, and
// one more hidden layer.) The defaults are published for Penn94, in the middle of all datasets' settings, but the width
// is 64, as for small graphs, and not 256.
type glognn struct{ powers, rows *sparse.Matrix }

// Prepare lays out P twice: powers for products with powers of P, and rows for P W3^T, with columns in the dataset's
// order, as those of W3 are.
func (n *glognn) Prepare(g *graphs.Graph, a *Arrays) {
	p := sparse.Adjacency(g).WithSelfLoops().RowNormalised()
	n.powers = a.Matrix(p)
	n.rows = a.Rectangular(p, a.Order, nil)
}

// Build implements [Network]. The representation is X_L, [n, c].
func (n *glognn) Build(b *Builder) Output {
	s := OwnOf[glognnSettings](b.Config)
	x := MulScalar(b.Encode("fc1", b.Config.Hidden), s.Delta)
	x = Add(x, MulScalar(b.EncodeRows("fc3", b.Matrix(n.rows), b.Config.Hidden), 1-s.Delta))
	x = b.Linear("fc2", b.Dropout(relu(x)), b.Classes)
	weights := b.Param(Param{Name: "orders_weight", Shape: []int{s.Order, 1}, Value: 1 / float64(s.Order)})
	first, p := x, b.Matrix(n.powers)
	for range b.Config.Forward {
		x = s.layer(x, first, p, weights)
	}
	return Output{Logits: b.FromScores(x), Representation: x}
}

// layer is X_{l+1}, [n, c], for x = X_l, first = X_0, p = P and weights = λ.
func (s glognnSettings) layer(x, first *Node, p sparse.Operator, weights *Node) *Node {
	keep := 1 - s.Gamma
	gram := Dot(Transpose(x, 0, 1), x).Product()
	m := ridgeInverse(MulScalar(gram, keep*keep), ConstAs(x, s.Alpha+s.Beta))
	q := MulScalar(Dot(x, m).Product(), keep)
	own := Dot(Sub(x, MulScalar(first, s.Gamma)), Dot(gram, m).Product()).Product()
	// Horner's rule: Σ_k λ_k P^k Q = P (λ_1 Q + P (λ_2 Q + …)).
	sum := (*Node)(nil)
	for k := s.Order; k > 0; k-- {
		sum = p.Product(loop.Accumulate(sum, Mul(q, Slice(weights, AxisRange(k-1, k)))))
	}
	return Add(Add(MulScalar(own, keep*keep), MulScalar(sum, s.Beta)), MulScalar(first, s.Gamma))
}
