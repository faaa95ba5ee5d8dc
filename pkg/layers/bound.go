package layers

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Norm is the name of a matrix norm that is never below the spectral norm, the Lipschitz constant of X ↦ X W.
type Norm string

// FrobeniusNorm is that of the paper (section 3.3), up to sqrt(d) times the spectral norm of a d x d matrix.
// SpectralNorm is [Schatten], up to d^(1/128) times.
const (
	FrobeniusNorm Norm = "frobenius"
	SpectralNorm  Norm = "spectral"
)

// Of is the norm of w. With K heads (0 is 1), w, [K d, d], has a matrix for each, one below the other, and the norm is
// the mean of theirs.
func (n Norm) Of(w *Node, heads int) *Node {
	heads = max(1, heads)
	if n != SpectralNorm {
		squares := Square(Reshape(w, heads, w.Shape().Size()/heads))
		// tiny: the derivative of the square root is infinite at 0, and would be NaN times 0.
		return ReduceAllMean(Sqrt(MaxScalar(ReduceSum(squares, 1), tiny)))
	}
	d := w.Shape().Dimensions
	var sum *Node
	for k := range heads {
		sum = loop.Accumulate(sum, Schatten(Slice(w, AxisRange(k*d[0]/heads, (k+1)*d[0]/heads))))
	}
	return DivScalar(sum, float64(heads))
}

// squarings is how often [Schatten] squares a matrix, tiny prevents divisions by zero, and rounding, the relative error
// that single precision may cause, enlarges its result.
const squarings, tiny, rounding = 5, 1e-30, 1e-5

// Schatten is a differentiable upper bound on the spectral norm of w: the Schatten norm of order 128, (Σ_i σ_i^p)^(1/p)
// for the singular values σ_i, at most d^(1/128) times the largest, 1.05 for d = 512. (Power iteration approaches the
// spectral norm from below, so that weights that it scales can exceed a bound.)
//
// With B = W/‖W‖_F, A_0 = B^T B and A_{k+1} = A_k², it is ‖W‖_F ‖A_5‖_F^(1/64). To avoid underflow, every A_k is
// divided by its norm, and the logarithms of these are kept.
func Schatten(w *Node) *Node {
	size := func(x *Node) *Node { return Sqrt(AddScalar(ReduceAllSum(Square(x)), tiny)) }
	scale := size(w)
	b := Div(w, scale)
	a := Dot(Transpose(b, 0, 1), b).Product()
	var log *Node // the logarithm of ‖A_k‖_F, before A_k is scaled to norm 1
	for k := range squarings + 1 {
		if k > 0 {
			a, log = Dot(a, a).Product(), MulScalar(log, 2)
		}
		n := size(a)
		a, log = Div(a, n), loop.Accumulate(log, Log(n))
	}
	root := Exp(DivScalar(log, float64(int(2)<<squarings)))
	return MulScalar(Mul(scale, root), 1+rounding)
}

// Bound multiplies each weight w of a block by
//
//	min(1, c / Σ_w ‖w‖);
//
// for heads, see [Norm.Of] (paper section 3.3 and appendix on multi-head attention). The Lipschitz constant of [GCN] is
// then at most c, and that of [GAT] if its attention is regarded as constant.
func Bound(norm Norm, c float64, weights []*Node, heads []int) []*Node {
	sum := norm.sum(weights, heads)
	return scaled(weights, Max(Div(sum, ConstAs(sum, c)), ConstAs(sum, 1)))
}

// ToBound multiplies each weight by c / Σ_w ‖w‖.
func ToBound(norm Norm, c float64, weights []*Node, heads []int) []*Node {
	return scaled(weights, DivScalar(norm.sum(weights, heads), c))
}

func (n Norm) sum(weights []*Node, heads []int) *Node {
	var sum *Node
	for i, w := range weights {
		sum = loop.Accumulate(sum, n.Of(w, heads[i]))
	}
	return sum
}

// scaled divides all weights by the same scalar.
func scaled(weights []*Node, by *Node) []*Node {
	out := make([]*Node, len(weights))
	for i, w := range weights {
		out[i] = Div(w, by)
	}
	return out
}

// Frobenius is the Frobenius norm of the matrix with these entries.
func Frobenius(entries []float32) float64 {
	sum := 0.0
	for _, v := range entries {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum)
}
