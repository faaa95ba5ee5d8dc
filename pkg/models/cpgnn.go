package models

import (
	"slices"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	Register(Kind{Name: "cpgnn", Title: "CPGNN",
		Layer: "B_0 + A B H, B_0 the beliefs of a network pretrained without the graph, " +
			"H compatibilities of classes",
		Reference: "Zhu et al., AAAI 2021",
		Shared:    []string{"forward", "hidden", "dropout"},
		Own:       cpgnnSettings{Prior: "mlp", Pretrain: 50, Eta: 1},
		Defaults:  func(c *Config) { c.Forward, c.Hidden, c.Dropout = 1, 64, 0.5 },
		Floor:     true, // the loss stays above 0, since logits are at most about as large as the largest degree
		New:       func(Config) Network { return &cpgnn{} }})
}

// cpgnnSettings are CPGNN's own settings. Prior chooses how the scores R of [cpgnn] are computed: "mlp" or "cheb".
// Pretrain is the number of epochs of pretraining. Eta is the factor η of CE(R) in the loss.
type cpgnnSettings struct {
	Prior    string  `help:"what the prior beliefs are from" oneof:"mlp,cheb"`
	Pretrain int     `help:"epochs of the prior alone, before compatibilities are estimated (0: learnt)" most:"1048576"`
	Eta      float64 `help:"weight of the prior's own loss after pretraining" most:"unlimited"`
}

// cpgnn is CPGNN (Zhu et al., "Graph Neural Networks with Heterophily", AAAI 2021). A perceptron computes scores R of
// the classes from the node features F. The scores become beliefs, which say how likely each class is for a node. Every
// node then reads its neighbours' beliefs in K steps. The entry H̄_ij says how often edges join nodes of the classes i
// and j (compatibility). There are n nodes and c classes, and d is the width:
//
//	R      = ReLU(F W1) W2                          scores [n, c]; features F [n, m], W1 [m, d], W2 [d, c]
//	B̄_0    = softmax(R) - 1/c                       first beliefs, [n, c]
//	B̄_k    = B̄_0 + A B̄_{k-1} H̄,  k = 1 … K          A [n, n], the adjacency matrix; H̄ [c, c]
//	loss   = CE(B̄_K) + η CE(R) + Σ_i |Σ_j H̄_ij|     CE the mean cross-entropy over the training nodes
//
// CE applies softmax to its argument, as in the authors' code. The last term of the loss keeps the sums of H̄'s rows
// near 0.
//
// The formula of R is for the value "mlp" of the setting "prior". For "cheb", R = g_2(ReLU(g_1(F))). Both g_1 and g_2
// have the form g(X) = Σ_k T_k(-D^-1/2 A D^-1/2) X W_k with k = 0, 1, 2, Chebyshev polynomials T_k, and weights W_k of
// their own. The eigenvalues of -D^-1/2 A D^-1/2 are within ±1, as Chebyshev polynomials require.
//
// Training starts with pretraining. The setting "pretrain" is its number of epochs. In pretraining, the loss is CE(R),
// so that only R is trained, and softmax(R) is the prediction. The last epoch of pretraining also estimates H̄, by the
// formula below. After pretraining, softmax(B̄_K) is the prediction, and H̄ is trained like the other parameters.
//
//	H̄ = (S + S^T)/2 - 1/c,  S = Sinkhorn(Y^T A B̃)
//
// Y, [n, c], holds the labels of the training nodes as one-hot rows. Its other rows are 0. B̃, [n, c], has the rows of
// Y for training nodes, and the rows of softmax(R) for all other nodes. Sinkhorn divides the columns and the rows of a
// matrix by their sums, again and again, until all sums are 1 (Sinkhorn and Knopp 1967).
//
// The published settings are d = 64, dropout 0.5 before the ReLU, K = 1 or 2 (the setting "forward"), η = 1, and 2000
// epochs, of which 400 are pretraining. Here the default is 50 epochs of pretraining, since trainings are shorter. In
// the publication, weight decay acts on W1, W2 and the W_k only. Here weight decay acts on H̄ as well, and the linear
// maps have biases.
//
// The authors' code, https://github.com/GemsLab/CPGNN, differs from the publication in three points. This network
// follows the publication. First, the code adds the weight decay twice and leaves out η CE(R), apparently by mistake.
// Second, it estimates H̄ from D^-1 A instead of A. Third, it continues after pretraining from the best epoch of
// pretraining, not from the last one.
type cpgnn struct{ adjacency, normalised *sparse.Matrix }

// Prepare makes the sparse matrices A and D^-1/2 A D^-1/2, [n, n].
func (n *cpgnn) Prepare(g *graphs.Graph) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	a := sparse.Adjacency(g)
	if n.adjacency, err = sparse.NewMatrix(a, nil); err != nil {
		return nil, nil, err
	}
	if n.normalised, err = sparse.NewMatrix(a.SymmetricNormalised(), n.adjacency.Order()); err != nil {
		return nil, nil, err
	}
	return n.adjacency.Order(), slices.Concat(n.adjacency.Tensors(), n.normalised.Tensors()), nil
}

// Pretraining implements [Pretrainer]: it returns the number of epochs in which only the scores R of [cpgnn] are
// trained.
func (n *cpgnn) Pretraining(c Config) int { return OwnOf[cpgnnSettings](c).Pretrain }

// Build implements [Network]. The representation, [n, c], is the beliefs B̄_K of [cpgnn] or, in pretraining, the scores
// R.
func (n *cpgnn) Build(b *Builder) Output {
	s, a := OwnOf[cpgnnSettings](b.Config), b.Matrix(n.adjacency)
	scores, still := n.prior(b, b.Matrix(n.normalised))
	pretraining, ends := s.phase(b)
	h := b.Param(Param{Name: "H", Shape: []int{b.Classes, b.Classes}})
	if ends != nil {
		h = Where(loop.Like(ends, h), estimateH(a, b.Known(), Softmax(still, -1), ends), h)
		b.Scope.GetVariable("H").SetNodeValue(h)
	}
	prior := AddScalar(Softmax(scores, -1), -1/float64(b.Classes))
	beliefs := prior
	for range b.Config.Forward {
		beliefs = Add(prior, a.Product(Dot(beliefs, h).Product()))
	}
	penalty := Add(MulScalar(knownLoss(scores, b.Known()), s.Eta), ReduceAllSum(Abs(ReduceSum(h, 1))))
	if pretraining != nil {
		beliefs = Where(loop.Like(pretraining, beliefs), scores, beliefs)
		penalty = Where(pretraining, ZerosLike(penalty), penalty)
	}
	return Output{Logits: b.FromScores(beliefs), Representation: beliefs, Penalty: penalty}
}

// prior returns the scores R of [cpgnn] twice: first with dropout, then without dropout.
func (n *cpgnn) prior(b *Builder, normalised sparse.Operator) (scores, still *Node) {
	copies, layer := 1, func(x *Node) *Node { return x }
	if OwnOf[cpgnnSettings](b.Config).Prior == "cheb" {
		copies, layer = 3, func(x *Node) *Node { return chebyshevPrior(normalised, x) }
	}
	hidden := layer(b.Encode("prior.0", copies*b.Config.Hidden))
	out := func(x *Node) *Node { return layer(b.Linear("prior.1", Max(x, ZerosLike(x)), copies*b.Classes)) }
	return out(b.Dropout(hidden)), out(hidden)
}

// chebyshevPrior returns T_0(L) X_0 + T_1(L) X_1 + T_2(L) X_2 for L = -D^-1/2 A D^-1/2, with Chebyshev polynomials T_k.
// The columns of x are those of X_0, X_1 and X_2, side by side.
func chebyshevPrior(normalised sparse.Operator, x *Node) *Node {
	width := x.Shape().Dimensions[1] / 3
	part := func(k int) *Node { return Slice(x, AxisRange(), AxisRange(k*width, (k+1)*width)) }
	inner := Sub(part(1), MulScalar(normalised.Product(part(2)), 2))
	return Sub(Sub(part(0), part(2)), normalised.Product(inner))
}

// phase returns two boolean scalars. pretraining tells whether this epoch belongs to pretraining, and ends tells
// whether it is the last epoch of pretraining. A result that is nil stands for false. The network counts the epochs in
// the parameter "epoch", so that the count is saved with the weights. This parameter is not trained.
func (s cpgnnSettings) phase(b *Builder) (pretraining, ends *Node) {
	if s.Pretrain == 0 {
		return nil, nil
	}
	epoch := b.Param(Param{Name: "epoch", Shape: []int{}, Fixed: true})
	pretraining = LessThan(epoch, ConstAs(epoch, float64(s.Pretrain)))
	if !b.Scope.IsTraining(b.Graph) {
		return pretraining, nil
	}
	b.Scope.GetVariable("epoch").SetNodeValue(AddScalar(epoch, 1))
	return pretraining, Equal(epoch, ConstAs(epoch, float64(s.Pretrain-1)))
}

// estimateH returns the estimate of H̄ at the end of pretraining, by the formula of [cpgnn]. The argument a is A. The
// argument known is Y, the labels of the training nodes as one-hot rows. The argument beliefs is softmax(R). The
// argument asked is a boolean scalar. If it is false, the caller does not use the result, and Sinkhorn's iterations do
// not run.
//
// A class may have no training nodes, or only training nodes without neighbours. The row of this class in Y^T A B̃ is
// then 0, and cannot be divided by its sum. Therefore a small number is added to all entries of Y^T A B̃.
func estimateH(a sparse.Operator, known, beliefs, asked *Node) *Node {
	beliefs = Where(BroadcastToShape(isKnown(known), known.Shape()), known, beliefs)
	h := Dot(Transpose(known, 0, 1), a.Product(StopGradient(beliefs))).Product()
	h = Add(h, AddScalar(MulScalar(ReduceAndKeep(ReduceAndKeep(h, ReduceMean, 0), ReduceMean, 1), 1e-6), 1e-30))
	iterations := ConvertDType(MulScalar(ConvertDType(asked, h.DType()), sinkhornIterations), dtypes.Int32)
	h = loop.Repeat(iterations, h, struct{}{}, func(_ *Node, h *Node, _ struct{}) *Node {
		h = Div(h, BroadcastToShape(ReduceAndKeep(h, ReduceSum, 0), h.Shape()))
		return Div(h, BroadcastToShape(ReduceAndKeep(h, ReduceSum, 1), h.Shape()))
	})
	h = StopGradient(h)
	return AddScalar(MulScalar(Add(h, Transpose(h, 0, 1)), 0.5), -1/float64(h.Shape().Dimensions[0]))
}

// sinkhornIterations is the number of times that [estimateH] divides all columns and all rows of a matrix by their
// sums. Then all sums are 1 in single precision, unless the entries of the matrix are very unequal.
const sinkhornIterations = 300

// isKnown tells for each node whether it is a training node, [n, 1]. The argument known, [n, c], has one-hot rows for
// training nodes, and zero rows for all other nodes.
func isKnown(known *Node) *Node {
	sum := ReduceAndKeep(known, ReduceSum, 1)
	return GreaterThan(sum, ZerosLike(sum))
}

// knownLoss returns the mean cross-entropy of scores, [n, c], over the training nodes. The argument known, [n, c],
// holds the labels of these nodes as one-hot rows, and zero rows for other nodes.
func knownLoss(scores, known *Node) *Node {
	return Neg(Div(ReduceAllSum(Mul(known, LogSoftmax(scores, -1))), MaxScalar(ReduceAllSum(known), 1)))
}
