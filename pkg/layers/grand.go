package layers

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// Attention is the scaled dot-product attention of GRAND (Chamberlain et al., ICML 2021; paper section 3.2), the mean over
// heads of
//
//	A_ij = softmax_j(q_i · k_j / sqrt(d')),  q, k: [n, heads d'], A: [places],
//
// over the neighbours j of i and i itself: rows add up to 1. The columns of q and k are head by head. It is safe on nodes with
// many neighbours, and differentiable: the derivative needs sparse products and one product per edge and head, no scatter.
func Attention(a sparse.Weighted, q, k *Node, heads int) *Node {
	d := q.Shape().Dimensions[1] / heads
	scale := 1 / math.Sqrt(float64(d))
	head := func(x *Node, h int) *Node { return Slice(x, AxisRange(), AxisRange(h*d, (h+1)*d)) }
	fixedQ, fixedK := StopGradient(q), StopGradient(k)
	each := make([]*Node, heads)
	var sum *Node
	for h := range each {
		each[h] = a.Softmax(MulScalar(a.Dots(head(fixedQ, h), head(fixedK, h)), scale))
		if sum == nil {
			sum = each[h]
		} else {
			sum = Add(sum, each[h])
		}
	}
	return solve.Custom(DivScalar(sum, float64(heads)), []*Node{q, k}, func(v *Node) []*Node {
		v = DivScalar(v, float64(heads))
		dq, dk := make([]*Node, heads), make([]*Node, heads)
		for h, p := range each {
			scores := MulScalar(a.SoftmaxPull(p, v), scale)
			dq[h] = a.Product(scores, head(fixedK, h))
			dk[h] = a.Product(a.Transpose(scores), head(fixedQ, h))
		}
		return []*Node{concatenated(dq), concatenated(dk)}
	})
}

func concatenated(columns []*Node) *Node {
	if len(columns) == 1 {
		return columns[0]
	}
	return Concatenate(columns, 1)
}

// Diffusion is GRAND's right-hand side dX/dt = M X, M = a (A - I), with a rate a and attention A that stay constant over time
// (GRAND-l; paper section 3.2). X is [n, d]. It implements solve.Field; see [Diffusion.Weights].
type Diffusion struct{ Structure *sparse.Structure }

// Weights are what the field reads: M and M^T, both [places], and the structure's arrays. They are differentiable in the
// attention [places] and the rate, a scalar.
func (d Diffusion) Weights(attention, rate *Node, arrays []*Node) []*Node {
	a := d.Structure.On(arrays)
	m := Mul(Sub(attention, a.Diagonal()), rate)
	return append([]*Node{m, a.Transpose(StopGradient(m))}, arrays...)
}

// Trainable is 1: M.
func (d Diffusion) Trainable() int { return 1 }

// Apply is M X.
func (d Diffusion) Apply(_, x *Node, w []*Node) *Node { return d.Structure.On(w[2:]).Product(w[0], x) }

// Linearize keeps X.
func (d Diffusion) Linearize(_, x *Node, _ []*Node) []*Node { return []*Node{x} }

// PullX is M^T V.
func (d Diffusion) PullX(v *Node, _, w []*Node) *Node { return d.Structure.On(w[2:]).Product(w[1], v) }

// PullW is v_i · x_j for every stored place (i, j).
func (d Diffusion) PullW(v *Node, tape, w []*Node) []*Node {
	return []*Node{d.Structure.On(w[2:]).Dots(v, tape[0])}
}
