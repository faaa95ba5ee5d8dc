package models

import (
	"math"

	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	Register(Kind{Name: "lrgnn", Title: "LRGNN",
		Layer:     "(1-α) U V^T X + α X, once, U V^T of low rank near the signed relationships of neighbours' labels",
		Reference: "Liang et al., NeurIPS 2023",
		Shared:    []string{"hidden", "dropout"},
		Own: lrgnnSettings{Estimator: "mlp", Factor: "mlp", Rank: 10, Updates: 1, Alpha: 0.9, Beta: 0.5,
			Delta: 0.9, Lambda: 0.5, Eps: 0.1, FactorDropout: 0.5},
		Defaults: func(c *Config) { c.Hidden, c.Dropout = 64, 0.7 },
		Depth:    func(Config) string { return "1" },
		// Y of [lrgnn] is a constant, through which no gradient flows, and has the labels of the training nodes.
		Detached: true, ReadsLabels: true,
		New: func(c Config) Network { return &lrgnn{lrgnnSettings: OwnOf[lrgnnSettings](c)} }})
}

// lrgnnSettings are LRGNN's own settings, with the names of the authors' code but for Rank ("k"), Updates ("gamma"),
// FactorDropout ("r") and EdgeMean ("large_scale").
type lrgnnSettings struct {
	Estimator     string  `help:"what estimates unknown labels" oneof:"mlp,gcn"`
	Factor        string  `help:"what the factor V starts as" oneof:"mlp,gcn"`
	Rank          int     `help:"rank of the label relationship matrix" least:"1" most:"64"`
	Updates       int     `help:"least-squares steps, of U and V by turns" most:"64"`
	Alpha         float64 `help:"share of the embedding that stays as it is" most:"1"`
	Beta          float64 `help:"weight of ‖U‖²" least:"positive" most:"unlimited"`
	Delta         float64 `help:"threshold below which neighbours' labels count as different" least:"-1000" most:"1000"`
	Lambda        float64 `help:"share of the adjacency, beside the features, in the embedding" most:"1"`
	Eps           float64 `help:"weight of ‖X X^T - U V^T‖²" most:"unlimited"`
	FactorDropout float64 `help:"dropout of the factors' columns" most:"0.99"`
	EdgeMean      bool    `help:"divide relationships by the number of neighbours"`
}

// lrgnn is LRGNN (Liang et al., "Predicting Global Label Relationship Matrix for Graph Neural Networks under
// Heterophily", NeurIPS 2023). A matrix of low rank, U V^T, estimates how much the labels of any two nodes agree, and
// mixes their scores. For features F, [n, m], c classes, width d and rank k:
//
//	Y      = the one-hot labels of training nodes; for other nodes the softmax of an estimator's scores    [n, c]
//	s_ij   = Y_i·Y_j - δ for neighbours i and j
//	H      = dropout(ReLU((1-λ) (F W1^T + b1) + λ (A Wa^T + ba)))            [n, d]; W1 [d, m], Wa [d, n]
//	X      = H W2^T + b2                                                     [n, c]
//	V      = H Wv^T + bv                                                     [n, k]
//	U      = S V (V^T V + β I)^-1                                            [n, k]
//	logits = (1-α) U V^T X + α X                                             [n, c]
//
// Before, U and V are improved by turns in "updates" least-squares steps. A step for U replaces U by
//
//	(R V + U V^T V + ε X X^T V) ((1+ε) V^T V + β I)^-1
//	R_ij = s_ij - U_i·V_j + b for neighbours i and j with (s_ij - U_i·V_j)² < t_ij, else 0
//
// S and R are sparse. b is a parameter, as are all W and b with an index; Greek letters are settings. With the factor
// "gcn", V is multiplied by the normalised adjacency Â of Kipf and Welling.
//
// The step is that of softImpute-ALS (Hastie et al. 2015) for fixed V, which makes Σ (s_ij - U_i·V_j)² + ε ‖X X^T - U
// V^T‖² + β ‖U‖² small, without outliers: t_ij = f_ij (q3 + 3/2 (q3 - q1)) for the quartiles q1 and q3 of all edges'
// squared residuals, and f_ij = (1/2 + (‖Y_i‖ - 1/c) (‖Y_j‖ - 1/c) + log(e - 1 + |s_ij|))/3. In training, columns of X
// and V are dropped in the terms ε X X^T V and ε V^T V, with the probability "factor-dropout".
//
// The text of the publication was not available: this follows the authors' code, https://github.com/Jinx-byebye/LRGNN,
// with its single layer and its defaults, but d, 512 there. The estimator has two layers and learns by a cross-entropy
// loss of its own alone, since Y counts as a constant. It differs from the code in these points:
//   - The estimator is trained together with the rest, not before it with early stopping.
//   - In f_ij, the code has the logistic function of an attention in place of 1/2, which gets no gradient.
//   - A step for V is one for U with U and V exchanged, and S^T for S. The code exchanges the indices of one matrix,
//     which is the same if U V^T is symmetric.
//   - With "edge-mean", s_ij is divided by the number of i's neighbours, -5 at least (but f_ij has the undivided one).
//     The code divides by that of j's, although it calls this row normalisation.
//   - The initial U has β I: V^T V has no inverse if V's rank is less than k.
//   - No dropout acts on the features F.
type lrgnn struct {
	lrgnnSettings
	edges   *sparse.Pattern
	rows    *sparse.Matrix
	smooth  *sparse.Matrix // Â; nil unless the estimator or the factor is gcn
	entries int
}

// Prepare lays out the edges, A for A Wa^T, with columns in the dataset's order, as those of Wa are, and Â if needed.
func (n *lrgnn) Prepare(g *graphs.Graph, arrays *Arrays) {
	a := sparse.Adjacency(g)
	n.entries = a.Entries()
	n.edges = arrays.Pattern(a, sparse.PatternOptions{})
	n.rows = arrays.Rectangular(a, arrays.Order, nil)
	if n.Estimator == "gcn" || n.Factor == "gcn" {
		n.smooth = arrays.Matrix(a.WithSelfLoops().SymmetricNormalised())
	}
}

// Build implements [Network]. The representation, [n, c], has a score for each node and class.
func (n *lrgnn) Build(b *Builder) Output {
	c := b.Config
	propagate := func(kind string, x *Node) *Node {
		if kind == "mlp" {
			return x
		}
		return b.Matrix(n.smooth).Product(x)
	}
	scores, still := n.estimate(b, propagate)
	signed := n.relationships(b, b.Edges(n.edges), still)

	h := MulScalar(b.Encode("lin1", c.Hidden), 1-n.Lambda)
	h = Add(h, MulScalar(b.EncodeRows("lin_a", b.Matrix(n.rows), c.Hidden), n.Lambda))
	h = b.Dropout(relu(h))
	x := b.Linear("lin2", h, b.Classes)
	u, v := signed.factors(propagate(n.Factor, b.Linear("vs.0", h, n.Rank)), x)
	near := Dot(u, Dot(Transpose(v, 0, 1), x).Product()).Product()
	x = Add(MulScalar(near, 1-n.Alpha), MulScalar(x, n.Alpha))
	return Output{Logits: b.FromScores(x), Representation: x, Penalty: knownLoss(scores, b.Known())}
}

// estimate is the estimator's scores, [n, c], with dropout, for its own loss, and without, for Y: a perceptron of two
// layers or, with "gcn", a graph convolutional network. propagate multiplies by Â if kind is gcn.
func (n *lrgnn) estimate(b *Builder, propagate func(kind string, x *Node) *Node) (scores, still *Node) {
	hidden := propagate(n.Estimator, b.Encode("predictor.lin1", b.Config.Hidden))
	hidden = relu(hidden)
	out := func(x *Node) *Node {
		return propagate(n.Estimator, b.Linear("predictor.lin2", x, b.Classes))
	}
	return out(b.Dropout(hidden)), out(hidden)
}

// relationships is the signed graph S that [lrgnn] factorises.
type relationships struct {
	lrgnnSettings
	b       *Builder
	edges   sparse.Edges
	entries int
	// S, S^T and f_ij at the places of the pattern, [places, 1], and the parameter b, [1].
	s, back, trust, shift *Node
}

// relationships computes s_ij and f_ij, without gradients, from the estimator's scores, [n, c].
func (n *lrgnn) relationships(b *Builder, edges sparse.Edges, scores *Node) relationships {
	known := b.Known()
	y := Where(BroadcastToShape(isKnown(known), known.Shape()), known, Softmax(StopGradient(scores), -1))
	s := StopGradient(AddScalar(edges.Dots(y, y, 1), -n.Delta))
	sure := AddScalar(Sqrt(ReduceAndKeep(Square(y), ReduceSum, 1)), -1/float64(b.Classes))
	trust := Add(AddScalar(edges.Dots(sure, sure, 1), 0.5), Log(AddScalar(Abs(s), math.E-1)))
	r := relationships{lrgnnSettings: n.lrgnnSettings, b: b, edges: edges, entries: n.entries, s: s, back: s,
		trust: StopGradient(DivScalar(trust, 3)), shift: b.Param(Param{Name: "b", Shape: []int{1}})}
	if n.EdgeMean {
		share := Reciprocal(MaxScalar(edges.Degree(), 1))
		r.s = StopGradient(MaxScalar(Mul(s, edges.Targets(share)), -5))
		r.back = StopGradient(MaxScalar(Mul(s, edges.Sources(share)), -5))
	}
	return r
}

// factors are U and V, [n, k] each, from the initial V and X, [n, c].
func (r relationships) factors(start, x *Node) (u, v *Node) {
	v = start
	keep := func(width int) *Node {
		return r.b.DropoutOf(Ones(v.Graph(), shapes.Make(v.DType(), 1, width)), r.FactorDropout)
	}
	xs, vs := keep(x.Shape().Dimensions[1]), keep(r.Rank)
	gram := Dot(Transpose(v, 0, 1), v).Product()
	u = Dot(r.edges.Product(r.s, v), ridgeInverse(gram, ConstAs(v, r.Beta))).Product()
	for i := range r.Updates {
		if i%2 == 0 {
			u = r.step(r.s, u, v, x, xs, vs)
		} else {
			v = r.step(r.back, v, u, x, xs, vs)
		}
	}
	return u, v
}

// step is a least-squares step for u, [n, k], with v fixed; s has S in a step for U, and S^T in one for V. xs, [1, c],
// and vs, [1, k], are dropout masks of the columns of x and v.
func (r relationships) step(s, u, v, x, xs, vs *Node) *Node {
	residual := Sub(s, r.edges.Dots(u, v, 1))
	squared := Square(StopGradient(residual))
	quartiles := r.edges.Ranked(squared, r.entries/4, 3*r.entries/4)
	low, high := Slice(quartiles, AxisRange(0, 1)), Slice(quartiles, AxisRange(1, 2))
	limit := Sub(MulScalar(high, 2.5), MulScalar(low, 1.5))
	residual = Add(residual, ExpandLeftToRank(r.shift, 2))
	residual = Where(LessThan(squared, Mul(r.trust, ExpandLeftToRank(limit, 2))), residual, ZerosLike(residual))

	gram := Dot(Transpose(v, 0, 1), v).Product()
	like := Dot(Transpose(Mul(x, xs), 0, 1), v).Product()
	right := Add(r.edges.Product(residual, v), Dot(u, gram).Product())
	right = Add(right, MulScalar(Dot(x, like).Product(), r.Eps))
	// Dropout makes the matrix D V^T V + β I with D = diag(1 + ε vs). Its inverse, (V^T V + β D^-1)^-1 D^-1, needs only
	// that of a symmetric matrix. d is the diagonal of D^-1.
	d := Reciprocal(AddScalar(MulScalar(vs, r.Eps), 1))
	return Mul(Dot(right, ridgeInverse(gram, MulScalar(d, r.Beta))).Product(), d)
}
