package models

import (
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	Register(Kind{Name: "cpgnn", Title: "CPGNN",
		Layer: "B_0 + A B H, B_0 the beliefs of a network pretrained without the graph, " +
			"H compatibilities of classes",
		Reference:         "Zhu et al., AAAI 2021",
		Shared:            []string{"forward", "hidden", "dropout"},
		Own:               cpgnnSettings{Prior: "mlp", Pretrain: 50, Eta: 1},
		Defaults:          func(c *Config) { c.Forward, c.Hidden, c.Dropout = 1, 64, 0.5 },
		LossStaysPositive: true, // logits are at most about as large as the largest degree
		Pretraining:       func(c Config) int { return OwnOf[cpgnnSettings](c).Pretrain },
		New:               func(Config) Network { return &cpgnn{} }})
}

// cpgnnSettings are CPGNN's own settings: what R is computed by, the epochs of pretraining, and η.
type cpgnnSettings struct {
	Prior    string  `help:"what the prior beliefs are from" oneof:"mlp,cheb"`
	Pretrain int     `help:"epochs of the prior alone, before compatibilities are estimated (0: learnt)" most:"1048576"`
	Eta      float64 `help:"weight of the prior's own loss after pretraining" most:"unlimited"`
}

// cpgnn is CPGNN (Zhu et al., "Graph Neural Networks with Heterophily", AAAI 2021). Scores R become beliefs, the
// probability of each of c classes. In K steps, nodes read their neighbours' beliefs; H̄_ij says how often edges join
// the classes i and j (compatibility):
//
//	R      = ReLU(F W1) W2                          scores [n, c]; features F [n, m], W1 [m, d], W2 [d, c]
//	B̄_0    = softmax(R) - 1/c                       first beliefs, [n, c]
//	B̄_k    = B̄_0 + A B̄_{k-1} H̄,  k = 1 … K          A [n, n], the adjacency matrix; H̄ [c, c]
//	loss   = CE(B̄_K) + η CE(R) + Σ_i |Σ_j H̄_ij|     CE the mean cross-entropy over the training nodes
//
// CE applies softmax, as in the authors' code. The last term keeps the sums of H̄'s rows near 0. With the prior "cheb",
// R = g_2(ReLU(g_1(F))), g(X) = Σ_k T_k(-D^-1/2 A D^-1/2) X W_k for k = 0, 1, 2, T_k Chebyshev polynomials.
//
// In pretraining, the loss is CE(R) and softmax(R) the prediction. Its last epoch estimates H̄, which is trained
// afterwards, when softmax(B̄_K) is the prediction:
//
//	H̄ = (S + S^T)/2 - 1/c,  S = Sinkhorn(Y^T A B̃)
//
// Y, [n, c], has one-hot labels of training nodes, other rows are 0. B̃ has Y's rows for training nodes, else those of
// softmax(R). Sinkhorn divides columns and rows by their sums by turns, until all sums are 1 (Sinkhorn and Knopp 1967).
//
// Published are d = 64, dropout 0.5 before the ReLU, K = 1 or 2 ("forward"), η = 1, and 2000 epochs, 400 of them
// pretraining; here 50, since trainings are shorter. In the publication, weight decay leaves out H̄, and there are no
// biases.
//
// The authors' code, https://github.com/GemsLab/CPGNN, differs from the publication, which this network follows: it
// adds the weight decay twice and leaves out η CE(R), apparently by mistake; it estimates H̄ from D^-1 A; and it goes
// on from the best epoch of pretraining.
type cpgnn struct{ adjacency, normalised *sparse.Matrix }

func (n *cpgnn) Prepare(g *graphs.Graph, a *Arrays) {
	adjacency := sparse.Adjacency(g)
	n.adjacency, n.normalised = a.Matrix(adjacency), a.Matrix(adjacency.SymmetricNormalised())
}

// Build implements [Network]. The representation, [n, c], is B̄_K or, in pretraining, R.
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

// prior is R twice: with and without dropout.
func (n *cpgnn) prior(b *Builder, normalised sparse.Operator) (scores, still *Node) {
	copies, layer := 1, func(x *Node) *Node { return x }
	if OwnOf[cpgnnSettings](b.Config).Prior == "cheb" {
		copies, layer = 3, func(x *Node) *Node { return chebyshevPrior(normalised, x) }
	}
	hidden := layer(b.Encode("prior.0", copies*b.Config.Hidden))
	out := func(x *Node) *Node { return layer(b.Linear("prior.1", relu(x), copies*b.Classes)) }
	return out(b.Dropout(hidden)), out(hidden)
}

// chebyshevPrior is T_0(L) X_0 + T_1(L) X_1 + T_2(L) X_2 for L = -D^-1/2 A D^-1/2; x has X_0, X_1 and X_2 side by side.
func chebyshevPrior(normalised sparse.Operator, x *Node) *Node {
	width := x.Shape().Dimensions[1] / 3
	part := func(k int) *Node { return Slice(x, AxisRange(), AxisRange(k*width, (k+1)*width)) }
	inner := Sub(part(1), MulScalar(normalised.Product(part(2)), 2))
	return Sub(Sub(part(0), part(2)), normalised.Product(inner))
}

// phase tells whether this epoch is one of pretraining, and whether it is the last of these, by boolean scalars; nil is
// false. The fixed parameter "epoch" counts, so that the count is saved with the weights.
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

// estimateH is H̄ at the end of pretraining, for a = A, known = Y and beliefs = softmax(R). If asked, a boolean scalar,
// is false, Sinkhorn's iterations do not run. A class without training nodes or their neighbours has a row of zeros in
// Y^T A B̃, so that a small number is added to all entries.
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

// sinkhornIterations make all sums 1 in single precision, unless the entries are very unequal.
const sinkhornIterations = 300

// isKnown tells for each node whether it is a training node, [n, 1], from one-hot rows known, [n, c].
func isKnown(known *Node) *Node {
	sum := ReduceAndKeep(known, ReduceSum, 1)
	return GreaterThan(sum, ZerosLike(sum))
}

// knownLoss is the mean cross-entropy of scores, [n, c], over the training nodes, whose labels are one-hot rows of
// known.
func knownLoss(scores, known *Node) *Node {
	return Neg(Div(ReduceAllSum(Mul(known, LogSoftmax(scores, -1))), MaxScalar(ReduceAllSum(known), 1)))
}
