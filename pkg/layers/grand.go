package layers

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/gradient"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// Attention is the scaled dot-product attention of GRAND (Chamberlain et al., ICML 2021; paper section 3.2). It is the
// mean over the heads of
//
//	A_ij = softmax_j(q_i · k_j / sqrt(d')),  q, k: [n, heads d'], A: [places, 1],
//
// where d' is the width of a head, and the columns of q and k are head by head. The softmax is over the entries of row
// i of the pattern a: the neighbours j of i, and i itself. So every row of A adds up to 1. The pattern must be
// symmetric and made with [sparse.ForGradients].
//
// Large scores do not overflow. The derivative takes sparse products and one inner product per edge and head, but no
// scatter, which would be slow.
func Attention(a sparse.BareEdges, q, k *Node, heads int) *Node {
	needSymmetric("GRAND's attention", a)
	scale := 1 / math.Sqrt(float64(q.Shape().Dimensions[1]/heads))
	fixedQ, fixedK := StopGradient(q), StopGradient(k)
	p := a.Softmax(MulScalar(a.Dots(fixedQ, fixedK, heads), scale))
	return gradient.Custom(ReduceAndKeep(p, ReduceMean, 1), []*Node{q, k}, func(v *Node) []*Node {
		v = BroadcastToShape(DivScalar(v, float64(heads)), p.Shape())
		mirrored := a.Transpose(MulScalar(a.SoftmaxPull(p, v), scale))
		// The scores' cotangents are transposed twice, which gives them back. Otherwise XLA would fuse their
		// computation into the product, and repeat it for every column.
		return []*Node{a.Product(a.Transpose(mirrored), fixedK), a.Product(mirrored, fixedQ)}
	})
}

// Diffusion is GRAND's differential equation dX/dt = M X, M = a (A - I), where the rate a and the attention A are
// constant over time (the variant GRAND-l; paper section 3.2). X is [n, d]. It implements solve.LinearField;
// [Diffusion.Weights] makes its weights. The pattern is symmetric, made with [sparse.ForGradients] and
// [sparse.ForDiagonal].
type Diffusion struct{ Pattern *sparse.Pattern }

// Weights returns the weights of the field: the entries of M and of M^T, [places, 1] each, and the pattern's arrays. M
// has gradients by the attention, [places, 1], and by the rate, a scalar.
func (d Diffusion) Weights(attention, rate *Node, arrays []*Node) []*Node {
	a := d.Pattern.Bare(arrays)
	needSymmetric("GRAND's diffusion", a)
	m := Mul(Sub(attention, a.Diagonal()), rate)
	return append([]*Node{m, a.Transpose(StopGradient(m))}, arrays...)
}

// Linear marks the field as linear. A step of size s is then a polynomial of the matrix s M: see solve.LinearField.
func (d Diffusion) Linear() {}

// Trainable is 1: M.
func (d Diffusion) Trainable() int { return 1 }

// Apply is M X.
func (d Diffusion) Apply(_, x *Node, w []*Node) *Node { return d.Pattern.Bare(w[2:]).Product(w[0], x) }

// Linearize keeps X.
func (d Diffusion) Linearize(_, x *Node, _ []*Node) []*Node { return []*Node{x} }

// PullX is M^T v.
func (d Diffusion) PullX(v *Node, _, w []*Node) *Node { return d.Pattern.Bare(w[2:]).Product(w[1], v) }

// PullW is the cotangent of M: v_i · x_j for every place (i, j).
func (d Diffusion) PullW(v *Node, tape, w []*Node) []*Node {
	return []*Node{d.Pattern.Bare(w[2:]).Dots(v, tape[0], 1)}
}
