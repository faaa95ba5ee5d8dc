package layers

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/gradient"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// Attention is the scaled dot-product attention of GRAND (Chamberlain et al., ICML 2021; paper section 3.2). The
// arguments q and k have the queries and the keys of all nodes, [n, heads d'], where d' is the width of a head. The
// first d' columns belong to head 0, the next d' columns to head 1, and so on. The attention of one head is
//
//	A_ij = softmax_j(q_i · k_j / sqrt(d')),
//
// where q_i is the part of row i of q that belongs to this head, and k_j is the part of row j of k that belongs to this
// head. (The paper divides by d', and not by its square root, and names the two the other way round. The square root is
// that of the authors' code.) The softmax is over the entries of row i of the pattern a: the neighbours j of node i,
// and i itself. Attention returns the mean of A over all heads, as an array [places, 1]. Each row of this mean adds up
// to 1. The pattern must be symmetric and made with the option [sparse.ForGradients].
//
// The softmax does not overflow, even if the scores q_i · k_j / sqrt(d') are large. The derivative is computed by
// products of sparse matrices, and by one inner product for each edge and head. It needs no scatter operation, which
// would be slow.
func Attention(a sparse.BareEdges, q, k *Node, heads int) *Node {
	needSymmetric("GRAND's attention", a)
	scale := 1 / math.Sqrt(float64(q.Shape().Dimensions[1]/heads))
	fixedQ, fixedK := StopGradient(q), StopGradient(k)
	p := a.Softmax(MulScalar(a.Dots(fixedQ, fixedK, heads), scale))
	return gradient.Custom(ReduceAndKeep(p, ReduceMean, 1), []*Node{q, k}, func(v *Node) []*Node {
		v = BroadcastToShape(DivScalar(v, float64(heads)), p.Shape())
		mirrored := a.Transpose(MulScalar(a.SoftmaxPull(p, v), scale))
		// mirrored is the transpose of the matrix of the scores' cotangents. The product with fixedQ needs this
		// transpose. The product with fixedK needs the matrix itself, and the code gets the matrix by transposing
		// mirrored. If that product read the computed cotangents directly, XLA would compute them inside the product,
		// again for every column.
		return []*Node{a.Product(a.Transpose(mirrored), fixedK), a.Product(mirrored, fixedQ)}
	})
}

// Diffusion is GRAND's differential equation dX/dt = M X for the state X, [n, d]. The matrix is M = a (A - I), where
// the rate a is a scalar, A is the attention, and I is the identity matrix. M does not change with time (this is the
// variant GRAND-l; paper section 3.2). Diffusion implements solve.LinearField: its methods compute M X and the
// derivatives of M X. The arrays w that these methods read come from [Diffusion.Weights]. The pattern must be
// symmetric, and made with the options [sparse.ForGradients] and [sparse.ForDiagonal].
type Diffusion struct{ Pattern *sparse.Pattern }

// Weights returns the arrays w that the other methods read: the entries of M, the entries of M^T, and the tensors of
// the pattern. The argument attention is A. The argument rate is the scalar a. The argument arrays has the tensors of
// the pattern. The arrays for A, M and M^T have the shape [places, 1]. Gradients pass from M to A and to a.
func (d Diffusion) Weights(attention, rate *Node, arrays []*Node) []*Node {
	a := d.Pattern.Bare(arrays)
	needSymmetric("GRAND's diffusion", a)
	m := Mul(Sub(attention, a.Diagonal()), rate)
	return append([]*Node{m, a.Transpose(StopGradient(m))}, arrays...)
}

// Linear does nothing. Its existence tells package solve that M X is linear in X. A Runge-Kutta step of size s then
// multiplies X by a polynomial in the matrix s M: see solve.LinearField.
func (d Diffusion) Linear() {}

// Trainable is the number of arrays in w that get gradients. It is 1: only the entries of M get gradients.
func (d Diffusion) Trainable() int { return 1 }

// Apply is M X.
func (d Diffusion) Apply(_, x *Node, w []*Node) *Node { return d.Pattern.Bare(w[2:]).Product(w[0], x) }

// Linearize returns the tape, which is X.
func (d Diffusion) Linearize(_, x *Node, _ []*Node) []*Node { return []*Node{x} }

// PullX is the cotangent of X, M^T v, where v is the cotangent of M X.
func (d Diffusion) PullX(v *Node, _, w []*Node) *Node { return d.Pattern.Bare(w[2:]).Product(w[1], v) }

// PullW is the cotangent of M. At the place of the entry (i, j) of M, it is the inner product v_i · x_j. Here v_i is
// row i of v, the cotangent of M X, and x_j is row j of X.
func (d Diffusion) PullW(v *Node, tape, w []*Node) []*Node {
	return []*Node{d.Pattern.Bare(w[2:]).Dots(v, tape[0], 1)}
}
