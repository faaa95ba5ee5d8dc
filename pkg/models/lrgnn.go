package models

import (
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

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
		// Detached: the matrix Y of [lrgnn] is treated as a constant, through which no gradient flows. ReadsLabels: Y
		// contains the labels of the training nodes.
		Detached: true, ReadsLabels: true,
		New: func(c Config) Network { return &lrgnn{lrgnnSettings: OwnOf[lrgnnSettings](c)} }})
}

// lrgnnSettings are LRGNN's own settings. Most have the names of the authors' code. Four have other names there: Rank
// is "k", Updates is "gamma", FactorDropout is "r", and EdgeMean is "large_scale".
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
// Heterophily", NeurIPS 2023). A matrix of low rank, U V^T, estimates how much the labels of any two nodes agree. The
// network mixes the scores of the nodes by this matrix. For n nodes with features F, [n, m], c classes, width d and
// rank k, it computes:
//
//	Y      = the one-hot labels of training nodes; for other nodes the softmax of an estimator's scores    [n, c]
//	s_ij   = Y_i·Y_j - δ for neighbours i and j
//	H      = dropout(ReLU((1-λ) (F W1^T + b1) + λ (A Wa^T + ba)))            [n, d]; W1 [d, m], Wa [d, n]
//	X      = H W2^T + b2                                                     [n, c]
//	V      = H Wv^T + bv                                                     [n, k]
//	U      = S V (V^T V + β I)^-1                                            [n, k]
//	logits = (1-α) U V^T X + α X                                             [n, c]
//
// Before the logits are computed, U and V are improved by turns, U first. The setting "updates" is the number of these
// least-squares steps. A step for U replaces U by
//
//	(R V + U V^T V + ε X X^T V) ((1+ε) V^T V + β I)^-1
//	R_ij = s_ij - U_i·V_j + b for neighbours i and j with (s_ij - U_i·V_j)² < t_ij, else 0
//
// Y_i is row i of Y, and the same holds for U and V. S is the sparse matrix with the entries s_ij, and R is the sparse
// matrix with the entries R_ij. The number b is a parameter, and so are all W and b with an index. Greek letters are
// settings. If the setting "factor" is gcn, V is multiplied by the normalised adjacency Â of Kipf and Welling.
//
// The step is that of the least-squares method softImpute-ALS (Hastie et al. 2015) for fixed V. The method makes
// Σ (s_ij - U_i·V_j)² + ε ‖X X^T - U V^T‖² + β ‖U‖² small. Edges with large residuals s_ij - U_i·V_j are treated as
// outliers, and are left out of the step. The limit of the squared residual is t_ij = f_ij (q3 + 3/2 (q3 - q1)). Here
// q1 and q3 are the first and the third quartile of the squared residuals of all edges. The factor f_ij is
// (1/2 + (‖Y_i‖ - 1/c) (‖Y_j‖ - 1/c) + log(e - 1 + |s_ij|))/3, where e is Euler's number. No dense [n, n] matrix is
// computed: U V^T X is U (V^T X). In training, dropout acts on columns of X and V in the terms ε X X^T V and ε V^T V,
// with the probability "factor-dropout".
//
// The text of the publication was not available. This network therefore follows the authors' code,
// https://github.com/Jinx-byebye/LRGNN, which has a single layer. The default settings are those of the code, except
// for d, which is 512 there. The estimator has two layers and a cross-entropy loss of its own. Here and in the code,
// the estimator learns from this loss alone, since Y is treated as a constant. The network differs from the code in
// these points:
//   - Here the estimator is trained at the same time as the rest of the network, and Y is computed from the estimator's
//     current output. In the code, the estimator is trained before the rest, with early stopping.
//   - In f_ij, the code has the logistic function of an attention in place of 1/2. This attention receives no gradient,
//     and so keeps its random initial values.
//   - A step for V is a step for U with U and V exchanged, and with S^T in place of S. The code exchanges the two
//     indices of one matrix, which makes no difference if U V^T is symmetric.
//   - With the setting "edge-mean", s_ij is divided by the number of i's neighbours, and is raised to -5 if it is
//     lower. (But f_ij is computed from the undivided s_ij.) The code divides s_ij by the number of j's neighbours,
//     although it calls this row normalisation.
//   - The formula of the initial U contains the term β I. Without it, V^T V would have no inverse if the rank of V is
//     less than k.
//   - No dropout acts on the features F.
type lrgnn struct {
	lrgnnSettings
	edges   *sparse.Pattern
	rows    *sparse.Matrix
	smooth  *sparse.Matrix // Â; nil unless the estimator or the factor is gcn
	entries int
}

// Prepare lays out up to three matrices of [lrgnn]. The pattern of the edges is for the numbers s_ij. The adjacency A
// is for the product A Wa^T. Its columns are in the order in which the dataset numbers the nodes, since the columns of
// the parameter Wa are in this order. The normalised adjacency Â is laid out only if the settings need it.
func (n *lrgnn) Prepare(g *graphs.Graph) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	a := sparse.Adjacency(g)
	n.entries = a.Entries()
	if n.edges, err = sparse.NewPattern(a, sparse.PatternOptions{}); err != nil {
		return nil, nil, err
	}
	order = n.edges.Order()
	if n.rows, err = sparse.NewRectangular(a, order, nil); err != nil {
		return nil, nil, err
	}
	arrays = slices.Concat(n.edges.Tensors(), n.rows.Tensors())
	if n.Estimator == "gcn" || n.Factor == "gcn" {
		if n.smooth, err = sparse.NewMatrix(a.WithSelfLoops().SymmetricNormalised(), order); err != nil {
			return nil, nil, err
		}
		arrays = append(arrays, n.smooth.Tensors()...)
	}
	return order, arrays, nil
}

// Build implements [Network] by the formulas at [lrgnn]. The representation is (1-α) U V^T X + α X, [n, c], which holds
// a score for each node and class.
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
	h = b.Dropout(Max(h, ZerosLike(h)))
	x := b.Linear("lin2", h, b.Classes)
	u, v := signed.factors(propagate(n.Factor, b.Linear("vs.0", h, n.Rank)), x)
	near := Dot(u, Dot(Transpose(v, 0, 1), x).Product()).Product()
	x = Add(MulScalar(near, 1-n.Alpha), MulScalar(x, n.Alpha))
	return Output{Logits: b.FromScores(x), Representation: x, Penalty: knownLoss(scores, b.Known())}
}

// estimate is the estimator of [lrgnn], which estimates unknown labels. It is a perceptron of two layers or, if the
// setting "estimator" is gcn, a graph convolutional network of two layers. It returns the scores of the classes,
// [n, c], in two versions. The result scores is computed with dropout, for the estimator's own loss. The result still
// is computed without dropout, for the matrix Y. The function propagate multiplies x by the normalised adjacency if
// kind is gcn.
func (n *lrgnn) estimate(b *Builder, propagate func(kind string, x *Node) *Node) (scores, still *Node) {
	hidden := propagate(n.Estimator, b.Encode("predictor.lin1", b.Config.Hidden))
	hidden = Max(hidden, ZerosLike(hidden))
	out := func(x *Node) *Node {
		return propagate(n.Estimator, b.Linear("predictor.lin2", x, b.Classes))
	}
	return out(b.Dropout(hidden)), out(hidden)
}
