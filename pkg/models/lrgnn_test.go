package models_test

import (
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/train/modeltest"
)

// The model lrgnn gives the same results as its formula, which [lowRank] computes with dense matrices, [n, n]. The
// lists of settings cover all variants of the model.
func TestLRGNNFormula(t *testing.T) {
	for _, settings := range [][]string{
		{"rank", "3", "alpha", "0.4"},
		{"rank", "3", "alpha", "0.3", "updates", "2", "delta", "0.4", "lambda", "0.2", "eps", "0.3",
			"estimator", "gcn"},
		{"rank", "2", "alpha", "0.2", "updates", "3", "delta", "3", "beta", "2", "factor", "gcn", "edge-mean", "true"},
		{"rank", "12", "alpha", "0.5", "updates", "0"},
	} {
		modeltest.Equals(t, "lrgnn", func(d *modeltest.Dense) (logits, penalty *Node) {
			f := lowRank{d, func(name string) float64 { return d.Config.Value(name).(float64) }}
			scores := f.layer("estimator", "predictor.lin2", relu(f.layer("estimator", "predictor.lin1", d.X)))
			penalty = Neg(Div(ReduceAllSum(Mul(d.Known, LogSoftmax(scores, 1))), ReduceAllSum(d.Known)))
			share := f.value("lambda")
			h := relu(Add(MulScalar(d.Linear("lin1", d.X), 1-share), MulScalar(d.Linear("lin_a", d.A), share)))
			x := d.Linear("lin2", h)
			uv := f.relationships(scores, f.layer("factor", "vs.0", h), x)
			return Add(MulScalar(Dot(uv, x).Product(), 1-f.value("alpha")), MulScalar(x, f.value("alpha"))), penalty
		}, func(c *train.Config) { set(t, c, settings...) })
	}
}

func relu(x *Node) *Node { return Max(x, ZerosLike(x)) }

// lowRank computes the formula of LRGNN with dense matrices. The comment on the type lrgnn has the formula. The
// function value returns the value of a setting.
type lowRank struct {
	*modeltest.Dense
	value func(name string) float64
}

// layer applies the linear layer with the given name to x. If the setting named by the argument setting is gcn, it also
// multiplies by the normalised adjacency, so that the result is a graph convolution.
func (f lowRank) layer(setting, name string, x *Node) *Node {
	y := f.Linear(name, x)
	if f.Config.Value(setting) == "gcn" {
		y = Dot(f.SymNorm(Add(f.A, f.I)), y).Product()
	}
	return y
}

// relationships returns the matrix U V^T of LRGNN's formula, [n, n]. The argument scores holds the scores of the
// estimator, v is the initial value of V, and x is the matrix X of the formula.
func (f lowRank) relationships(scores, v, x *Node) *Node {
	known := BroadcastToShape(ReduceAndKeep(f.Known, ReduceSum, 1), f.Known.Shape())
	y := StopGradient(Add(f.Known, Mul(OneMinus(known), Softmax(scores, 1))))
	s := AddScalar(Dot(y, Transpose(y, 0, 1)).Product(), -f.value("delta"))
	sure := AddScalar(Sqrt(ReduceAndKeep(Square(y), ReduceSum, 1)), -1.0/3)
	trust := Add(AddScalar(Mul(sure, Transpose(sure, 0, 1)), 0.5), Log(AddScalar(Abs(s), math.E-1)))
	if f.Config.Value("edge-mean") == true {
		s = MaxScalar(Div(s, MaxScalar(ReduceAndKeep(f.A, ReduceSum, 1), 1)), -5)
	}
	s, trust = Mul(s, f.A), DivScalar(trust, 3)
	gram := Dot(Transpose(v, 0, 1), v).Product()
	u := Dot(Dot(s, v).Product(), f.inverse(gram, f.value("beta"))).Product()
	for i := range f.Config.Value("updates").(int) {
		if i%2 == 0 {
			u = f.step(s, trust, u, v, x)
		} else {
			v = f.step(Transpose(s, 0, 1), trust, v, u, x)
		}
	}
	return Dot(u, Transpose(v, 0, 1)).Product()
}

// step computes a least-squares step for one of the two factors U and V. The argument u is this factor, and the result
// replaces it. The argument v is the other factor, which is fixed.
func (f lowRank) step(s, trust, u, v, x *Node) *Node {
	const entries = 22 // the number of entries of the adjacency of modeltest.Tiny
	residual := Sub(s, Dot(u, Transpose(v, 0, 1)).Product())
	squares := StopGradient(Square(residual))
	inside := GreaterThan(f.A, ZerosLike(f.A))
	far := MulScalar(OnesLike(squares), 1e30)
	sorted := Sort(Reshape(Where(inside, squares, far), -1), 0, true)
	quartile := func(k int) *Node { return Reshape(Slice(sorted, AxisElem(k*entries/4)), 1, 1) }
	limit := Add(quartile(3), MulScalar(Sub(quartile(3), quartile(1)), 1.5))
	kept := LogicalAnd(inside, LessThan(squares, Mul(trust, limit)))
	residual = Where(kept, Add(residual, Reshape(f.Param("b"), 1, 1)), ZerosLike(residual))
	gram, eps := Dot(Transpose(v, 0, 1), v).Product(), f.value("eps")
	right := Add(Dot(residual, v).Product(), Dot(u, gram).Product())
	right = Add(right, MulScalar(Dot(Dot(x, Transpose(x, 0, 1)).Product(), v).Product(), eps))
	return Dot(right, f.inverse(MulScalar(gram, 1+eps), f.value("beta"))).Product()
}

// inverse is (A + ridge I)^-1.
func (f lowRank) inverse(a *Node, ridge float64) *Node {
	k := a.Shape().Dimensions[0]
	eye := Slice(f.I, AxisRange(0, k), AxisRange(0, k))
	return solve.MatrixInverse(Add(a, MulScalar(eye, ridge)))
}

func TestLRGNN(t *testing.T) {
	t.Parallel()
	modeltest.Check(t, "lrgnn", func(c *train.Config) {
		set(t, c, "rank", "4", "updates", "2", "estimator", "gcn", "factor", "gcn", "edge-mean", "true", "delta", "0.5",
			"alpha", "0.5", "dropout", "0.2")
	})
}
