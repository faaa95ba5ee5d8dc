package layers

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
)

// Norm is the name of a matrix norm that is never below the spectral norm, which is the largest singular value. The
// Lipschitz constant of X ↦ X W is the spectral norm of W. So a bound on any [Norm] of W is also a bound on this
// Lipschitz constant.
type Norm string

// FrobeniusNorm is the norm of the paper (section 3.3): the root of the sum of the squared entries. For a d x d matrix,
// it is at most sqrt(d) times the spectral norm. SpectralNorm is not the spectral norm itself, but an upper bound on
// it: the result of [Schatten]. For a d x d matrix, this bound is at most d^(1/128) times the spectral norm.
const (
	FrobeniusNorm Norm = "frobenius"
	SpectralNorm  Norm = "spectral"
)

// Of computes the norm of the matrix w. With K attention heads, w holds one matrix [d, d] for each head, one below the
// other, and so has the shape [K d, d]. The result is then the mean of the norms of these K matrices. The argument
// heads is K; 0 stands for 1.
func (n Norm) Of(w *Node, heads int) *Node {
	heads = max(1, heads)
	if n != SpectralNorm {
		squares := Square(Reshape(w, heads, w.Shape().Size()/heads))
		// The derivative of the square root is infinite at 0. It would be NaN times the derivative of the squares, 0.
		return ReduceAllMean(Sqrt(MaxScalar(ReduceSum(squares, 1), tiny)))
	}
	d := w.Shape().Dimensions
	var sum *Node
	for k := range heads {
		norm := Schatten(Slice(w, AxisRange(k*d[0]/heads, (k+1)*d[0]/heads)))
		if sum == nil {
			sum = norm
		} else {
			sum = Add(sum, norm)
		}
	}
	return DivScalar(sum, float64(heads))
}

// squarings is how often [Schatten] squares a matrix. tiny is added under square roots, and prevents a division by zero
// for the zero matrix. rounding is the relative error that single precision may cause: [Schatten] enlarges its result
// by this fraction, so that the result is never too low.
const squarings, tiny, rounding = 5, 1e-30, 1e-5

// Schatten is a differentiable upper bound on the spectral norm of the matrix w. It is the Schatten norm of order p =
// 128, which is (Σ_i σ_i^p)^(1/p) for the singular values σ_i. With d singular values, it is at most d^(1/128) times
// the largest one. For d = 512, this factor is 1.05. (Power iteration, the usual estimate of the spectral norm,
// approaches the spectral norm from below. Weights that are scaled by that estimate can therefore exceed the bound.)
//
// Let W be the matrix w, and B = W/‖W‖_F, where ‖·‖_F is the Frobenius norm. Let A_0 = B^T B and A_{k+1} = A_k². Then
// ‖A_k‖_F is the square root of the sum of the 2^(k+2)th powers of B's singular values. So the Schatten norm of B is
// ‖A_5‖_F^(1/64), and the Schatten norm of W is ‖W‖_F times as large. To avoid underflow, the code divides every A_k by
// its norm, and computes the logarithm of ‖A_5‖_F from the logarithms of these norms.
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
		a = Div(a, n)
		if log == nil {
			log = Log(n)
		} else {
			log = Add(log, Log(n))
		}
	}
	root := Exp(DivScalar(log, float64(int(2)<<squarings)))
	return MulScalar(Mul(scale, root), 1+rounding)
}

// Bound scales the weights of a block down, all by the same factor, if the sum of their norms exceeds c. Each weight is
// multiplied by
//
//	min(1, c / Σ_w ‖w‖),
//
// where the sum is over all weights w of the block. With K attention heads, a weight holds one matrix [d, d] for each
// head, one below the other, and so has the shape [K d, d]. The norm of such a weight is the mean of the norms of these
// K matrices (paper section 3.3 and appendix on multi-head attention). For each weight, the list heads has the number K
// of its matrices.
//
// With the scaled weights, the Lipschitz constants of [GCN] and [SAGE] are at most c. The Lipschitz constant of [GAT]
// is at most c if its attention is regarded as constant.
func Bound(norm Norm, c float64, weights []*Node, heads []int) []*Node {
	sum := norm.sum(weights, heads)
	return scaled(weights, Max(Div(sum, ConstAs(sum, c)), ConstAs(sum, 1)))
}

// ToBound scales the weights up or down, all by the same factor, so that the sum of their norms is c. The comment on
// [Bound] explains the norms and the list heads.
func ToBound(norm Norm, c float64, weights []*Node, heads []int) []*Node {
	return scaled(weights, DivScalar(norm.sum(weights, heads), c))
}

// sum is the sum of the norms of all weights.
func (n Norm) sum(weights []*Node, heads []int) *Node {
	var sum *Node
	for i, w := range weights {
		if norm := n.Of(w, heads[i]); sum == nil {
			sum = norm
		} else {
			sum = Add(sum, norm)
		}
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
