package models

import (
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
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

// glognnSettings are GloGNN's own settings, with the names of the authors' code. The publication has other symbols:
// Alpha is its β_1, Beta is its β_2, Gamma is its γ, 1 - Delta is its α, and Order is its K.
type glognnSettings struct {
	Alpha float64 `help:"weight of ‖Z‖²" most:"unlimited"`
	Beta  float64 `help:"weight of Z's distance from powers of the adjacency" least:"positive" most:"unlimited"`
	Gamma float64 `help:"share of the first embedding in every layer" most:"0.99"`
	Delta float64 `help:"share of the features, beside the adjacency, in the first embedding" most:"1"`
	Order int     `help:"highest power of the adjacency" least:"1" most:"64"`
}

// glognn is GloGNN (Li et al., "Finding Global Homophily in Graph Neural Networks When Meeting Heterophily", ICML
// 2022). In each layer, every node reads all nodes, with weights Z_l that are computed from X_l by least squares. For n
// nodes with the features F, c classes, width d and L layers, the formulas are:
//
//	X_0     = ReLU(δ (F W1^T + b1) + (1-δ) (P W3^T + b3)) W2^T + b2    F [n, m], W1 [d, m], W3 [d, n], W2 [c, d]
//	Z_l     = argmin_Z ‖X_l - (1-γ) Z X_l - γ X_0‖² + β1 ‖Z‖² + β2 ‖Z - Σ_k λ_k P^k‖²    Frobenius norms, k = 1 … K
//	X_{l+1} = (1-γ) Z_l X_l + γ X_0                                     [n, c]
//	logits  = X_L
//
// P is (D+I)^-1 (A+I). The vector λ, [K, 1], is trained, starts at 1/K, and is the same in all layers. Dropout acts on
// the result of ReLU. The publication gives a closed form of Z_l. With β = β1 + β2, and with X and Z in place of X_l
// and Z_l, it is
//
//	Z = [(1-γ) (X - γ X_0) X^T + β2 Σ_k λ_k P^k] [(1-γ)² X X^T + β I]^-1
//
// Only the product Z X is needed, which can be computed without any dense [n, n] matrix:
//
//	Q       = (1-γ) X M^-1, M = (1-γ)² X^T X + β I                      [n, c] and [c, c]
//	X_{l+1} = (1-γ) (X - γ X_0) X^T Q + β2 Σ_k λ_k P^k Q + γ X_0
//
// This follows from the equation [a X X^T + β I]^-1 X = X [a X^T X + β I]^-1 with a = (1-γ)². (The publication computes
// Q as a difference of two terms, by Woodbury's identity. The results of the two ways differ by rounding only.)
//
// The parameters fc1, fc2, fc3 and orders_weight have the names of the authors' code,
// https://github.com/RecklessRonan/GloGNN, small-scale/main.py. The settings alpha (β1), beta (β2), gamma (γ), delta
// (δ, which is 1-α in the publication) and order (K) have the names of that code, too. The setting forward is the
// number of layers.
//
// The layer is the same in the publication and in the code. For X_0, the publication does not say which adjacency
// matrix is used, and how many hidden layers there are. This network has P and one hidden layer, as the authors' code
// for small graphs. (Their code for large graphs has A in place of P, and one more hidden layer.)
//
// The defaults are the settings published for the dataset Penn94: β1 = 0, β2 = 1, γ = δ = 0.5, K = 2, 2 layers and
// dropout 0.5. They were chosen since they lie in the middle of the settings published for all datasets. Only the
// default width is not that for Penn94, which is 256. It is 64, as in the authors' runs on small graphs.
type glognn struct{ powers, rows *sparse.Matrix }

// Prepare lays out the matrix P = (D+I)^-1 (A+I), [n, n], twice, for two kinds of products. The field powers is P for
// products with powers of P. Its rows and columns are in the order that the nodes have in the model's arrays. The field
// rows is P for the product P W3^T. Its columns are in the order in which the dataset numbers the nodes, since the
// columns of the parameter W3 are in this order.
func (n *glognn) Prepare(g *graphs.Graph) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	p := sparse.Adjacency(g).WithSelfLoops().RowNormalised()
	if n.powers, err = sparse.NewMatrix(p, nil); err != nil {
		return nil, nil, err
	}
	if n.rows, err = sparse.NewRectangular(p, n.powers.Order(), nil); err != nil {
		return nil, nil, err
	}
	return n.powers.Order(), slices.Concat(n.powers.Tensors(), n.rows.Tensors()), nil
}

// Build implements [Network] by the formulas at [glognn]. The representation is X_L, [n, c], which holds a score for
// each node and class.
func (n *glognn) Build(b *Builder) Output {
	s := OwnOf[glognnSettings](b.Config)
	x := MulScalar(b.Encode("fc1", b.Config.Hidden), s.Delta)
	x = Add(x, MulScalar(b.EncodeRows("fc3", b.Matrix(n.rows), b.Config.Hidden), 1-s.Delta))
	x = b.Linear("fc2", b.Dropout(Max(x, ZerosLike(x))), b.Classes)
	weights := b.Param(Param{Name: "orders_weight", Shape: []int{s.Order, 1}, Value: 1 / float64(s.Order)})
	first, p := x, b.Matrix(n.powers)
	for range b.Config.Forward {
		x = s.layer(x, first, p, weights)
	}
	return Output{Logits: b.FromScores(x), Representation: x}
}

// layer computes one layer of [glognn] and returns X_{l+1}, [n, c]. The arguments are x = X_l, first = X_0, p = P and
// weights = λ.
func (s glognnSettings) layer(x, first *Node, p sparse.Operator, weights *Node) *Node {
	keep := 1 - s.Gamma
	gram := Dot(Transpose(x, 0, 1), x).Product()
	m := ridgeInverse(MulScalar(gram, keep*keep), ConstAs(x, s.Alpha+s.Beta))
	q := MulScalar(Dot(x, m).Product(), keep)
	own := Dot(Sub(x, MulScalar(first, s.Gamma)), Dot(gram, m).Product()).Product()
	// Horner's rule: Σ_k λ_k P^k Q = P (λ_1 Q + P (λ_2 Q + …)).
	sum := (*Node)(nil)
	for k := s.Order; k > 0; k-- {
		term := Mul(q, Slice(weights, AxisRange(k-1, k)))
		if sum != nil {
			term = Add(term, sum)
		}
		sum = p.Product(term)
	}
	return Add(Add(MulScalar(own, keep*keep), MulScalar(sum, s.Beta)), MulScalar(first, s.Gamma))
}
