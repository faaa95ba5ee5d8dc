package layers

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
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
	return loop.Custom(ReduceAndKeep(p, ReduceMean, 1), []*Node{q, k}, func(v *Node) []*Node {
		v = BroadcastToShape(DivScalar(v, float64(heads)), p.Shape())
		mirrored := a.Transpose(MulScalar(a.SoftmaxPull(p, v), scale))
		// mirrored is the transpose of the matrix of the scores' cotangents. The product with fixedQ needs this
		// transpose. The product with fixedK needs the matrix itself, and the code gets the matrix by transposing
		// mirrored. If that product read the computed cotangents directly, XLA would compute them inside the product,
		// again for every column.
		return []*Node{a.Product(a.Transpose(mirrored), fixedK), a.Product(mirrored, fixedQ)}
	})
}

// Diffusion is GRAND's linear field dX/dt = M X for the state X, [n, d], with M = a (A - I), where the rate a is a
// scalar and A is the attention. M does not change with time (GRAND-l; paper section 3.2). It implements
// solve.LinearField, so that a step of size s multiplies X by a polynomial in s M.
type Diffusion struct{}

// DiffusionWeights are M and M^T, [places, 1] each, of edges that are made with [sparse.ForGradients] and
// [sparse.ForDiagonal]. Only M gets gradients.
type DiffusionWeights struct {
	M, MT *Node
	Edges sparse.BareEdges
}

// NewDiffusionWeights computes M from the attention A, [places, 1], and the rate a. Gradients pass to both.
func NewDiffusionWeights(edges sparse.BareEdges, attention, rate *Node) DiffusionWeights {
	needSymmetric("GRAND's diffusion", edges)
	m := Mul(Sub(attention, edges.Diagonal()), rate)
	return DiffusionWeights{m, StopGradient(edges.Transpose(StopGradient(m))), edges}
}

func (Diffusion) Linear() {}

func (Diffusion) Apply(_, x *Node, w DiffusionWeights) *Node { return w.Edges.Product(w.M, x) }

// Linearize returns the tape X.
func (Diffusion) Linearize(_, x *Node, _ DiffusionWeights) []*Node { return []*Node{x} }

// PullX is M^T v.
func (Diffusion) PullX(v *Node, _ []*Node, w DiffusionWeights) *Node { return w.Edges.Product(w.MT, v) }

// PullW has v_i · x_j at the place of each entry (i, j) of M.
func (Diffusion) PullW(v *Node, tape []*Node, w DiffusionWeights) DiffusionWeights {
	return DiffusionWeights{M: w.Edges.Dots(v, tape[0], 1)}
}
