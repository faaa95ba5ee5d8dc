package layers

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// Attention is the scaled dot-product attention of GRAND (Chamberlain et al., ICML 2021; paper section 3.2), for
// queries q and keys k, [n, heads d'], head by head:
//
//	A_ij = softmax_j(q_i · k_j / sqrt(d') + log w_ij),
//
// over the entries of row i of a symmetric pattern, made for [sparse.ForGradients], with the weights w of edges: if all
// queries are zero, A is the random walk's matrix D^-1 W. The logarithms are [places, 1], or nil if all weights are 1.
// The result is the mean over heads, [places, 1], with rows that add up to 1. (The paper divides by d', and names q and
// k the other way round. The root is that of the authors' code.)
func Attention(a sparse.BareEdges, q, k, logWeights *Node, heads int) *Node {
	needSymmetric("GRAND's attention", a)
	scale := 1 / math.Sqrt(float64(q.Shape().Dimensions[1]/heads))
	fixedQ, fixedK := StopGradient(q), StopGradient(k)
	scores := MulScalar(a.Dots(fixedQ, fixedK, heads), scale)
	if logWeights != nil {
		scores = Add(scores, BroadcastToShape(logWeights, scores.Shape()))
	}
	p := a.Softmax(scores)
	return loop.Custom(ReduceAndKeep(p, ReduceMean, 1), []*Node{q, k}, func(v *Node) []*Node {
		v = BroadcastToShape(DivScalar(v, float64(heads)), p.Shape())
		mirrored := a.Transpose(MulScalar(a.SoftmaxPull(p, v), scale))
		// mirrored is the transpose of the scores' cotangents. Were these read directly, XLA would compute them inside
		// the product with fixedK, again for every column.
		return []*Node{a.Product(a.Transpose(mirrored), fixedK), a.Product(mirrored, fixedQ)}
	})
}

// Diffusion is GRAND's linear field dX/dt = M X, with M = a (A - I) for a rate a and the attention A (GRAND-l; paper
// section 3.2).
type Diffusion struct{}

// DiffusionWeights are M and M^T, [places, 1] each, of edges made with [sparse.ForGradients] and [sparse.ForDiagonal].
// Only M gets gradients.
type DiffusionWeights struct {
	M, MT *Node
	Edges sparse.BareEdges
}

// NewDiffusionWeights is M for the attention A, [places, 1], and the rate a. Gradients pass to both.
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
