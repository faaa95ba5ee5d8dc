package layers

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/gradient"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// Attention is the scaled dot-product attention of GRAND (Chamberlain et al., ICML 2021; paper section 3.2). The result
// is the mean, over all heads, of
//
//	A_ij = softmax_j(q_i · k_j / sqrt(d')),  q, k: [n, heads d'], A: [places, 1],
//
// where d' is the width of a head, and q_i and k_j are the rows of q and k in the columns of this head. The columns of
// q and k are head by head: first those of head 0, then those of head 1, and so on. The softmax is over the entries of
// row i of the pattern a: the neighbours j of i, and i itself. So every row of A adds up to 1. The pattern must be
// symmetric and made with the option [sparse.ForGradients].
//
// Large scores do not overflow. The derivative is computed by sparse products and one inner product per edge and head.
// It needs no scatter, which would be slow.
func Attention(a sparse.BareEdges, q, k *Node, heads int) *Node {
	needSymmetric("GRAND's attention", a)
	scale := 1 / math.Sqrt(float64(q.Shape().Dimensions[1]/heads))
	fixedQ, fixedK := StopGradient(q), StopGradient(k)
	p := a.Softmax(MulScalar(a.Dots(fixedQ, fixedK, heads), scale))
	return gradient.Custom(ReduceAndKeep(p, ReduceMean, 1), []*Node{q, k}, func(v *Node) []*Node {
		v = BroadcastToShape(DivScalar(v, float64(heads)), p.Shape())
		mirrored := a.Transpose(MulScalar(a.SoftmaxPull(p, v), scale))
		// mirrored holds the cotangents of the scores, transposed. The first product needs them without the
		// transposition, and so transposes mirrored again. Without these two transpositions, XLA would fuse the
		// computation of the cotangents into the product, and repeat this computation for every column.
		return []*Node{a.Product(a.Transpose(mirrored), fixedK), a.Product(mirrored, fixedQ)}
	})
}

// Diffusion is GRAND's differential equation dX/dt = M X for the state X, [n, d], with M = a (A - I). The rate a, a
// scalar, and the attention A are constant over time (the variant GRAND-l; paper section 3.2). Diffusion implements
// solve.LinearField, the interface of the right-hand side M X with its derivatives. The arrays w that its methods read
// come from [Diffusion.Weights]. The pattern is symmetric, and made with the options [sparse.ForGradients] and
// [sparse.ForDiagonal].
type Diffusion struct{ Pattern *sparse.Pattern }

// Weights returns the arrays w that the other methods read: the entries of M and of M^T, [places, 1] each, and the
// tensors of the pattern. The arguments are A, [places, 1]; the rate a, a scalar; and the tensors of the pattern.
// Gradients pass through M to A and a.
func (d Diffusion) Weights(attention, rate *Node, arrays []*Node) []*Node {
	a := d.Pattern.Bare(arrays)
	needSymmetric("GRAND's diffusion", a)
	m := Mul(Sub(attention, a.Diagonal()), rate)
	return append([]*Node{m, a.Transpose(StopGradient(m))}, arrays...)
}

// Linear marks the right-hand side M X as linear in X. A step of size s in time is then a polynomial of the matrix s M:
// see solve.LinearField.
func (d Diffusion) Linear() {}

// Trainable is 1: the entries of M get gradients.
func (d Diffusion) Trainable() int { return 1 }

// Apply is M X.
func (d Diffusion) Apply(_, x *Node, w []*Node) *Node { return d.Pattern.Bare(w[2:]).Product(w[0], x) }

// Linearize returns the tape, which is X.
func (d Diffusion) Linearize(_, x *Node, _ []*Node) []*Node { return []*Node{x} }

// PullX is the cotangent of X, M^T v, where v is the cotangent of M X.
func (d Diffusion) PullX(v *Node, _, w []*Node) *Node { return d.Pattern.Bare(w[2:]).Product(w[1], v) }

// PullW is the cotangent of M: v_i · x_j at the place of every entry (i, j). v_i is row i of v, the cotangent of M X,
// and x_j is row j of X.
func (d Diffusion) PullW(v *Node, tape, w []*Node) []*Node {
	return []*Node{d.Pattern.Bare(w[2:]).Dots(v, tape[0], 1)}
}
