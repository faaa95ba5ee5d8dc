package layers

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// SAGE is the residual branch of a graph convolution with a separate weight for the node itself:
//
//	h(X) = σ(Â X W + X V + b),  X: [n, d], W, V: [d, d], b: [d].
//
// Â is the symmetrically normalised adjacency matrix of [sparse.SymNorm]. The two weights are those of GraphSAGE
// (Hamilton et al., NeurIPS 2017). (In [GCN], the same W multiplies the features of the node itself and those of its
// neighbours. So the branch of GCN treats the node itself like a neighbour.)
//
// The spectral norm of Â is 1, and σ never moves two arguments farther apart. Therefore the Lipschitz constant Lip(h)
// is at most the sum of the spectral norms of W and V. It is also at most ‖W‖ + ‖V‖ for every norm that is never below
// the spectral norm. [Bound] limits ‖W‖ + ‖V‖.
//
// SAGE implements solve.Block. It reads W, b, V and the tensors of Adjacency, in this order.
type SAGE struct {
	Adjacency  *sparse.Matrix
	Activation Activation
}

// Trainable is 3: W, b and V are trainable.
func (SAGE) Trainable() int { return 3 }

// Preactivation is Â X W + X V.
func (c SAGE) Preactivation(x *Node, w []*Node) *Node {
	u, _ := c.Linearize(x, w)
	return u
}

// Activate is σ(u + b), and Gate is v ∘ σ'(u + b).
func (c SAGE) Activate(u *Node, w []*Node) *Node { return c.Activation.biased(u, w[1]) }
func (c SAGE) Gate(u, v *Node, w []*Node) *Node  { return c.Activation.gate(u, v, w[1]) }

// Linearize computes Â X W + X V. The tape is Â X and X.
func (c SAGE) Linearize(x *Node, w []*Node) (*Node, []*Node) {
	tape := c.Tape(x, w)
	return Add(Dot(tape[0], w[0]).Product(), Dot(x, w[2]).Product()), tape
}

// Tape returns Â X and X, the tape of Linearize, without computing u.
func (c SAGE) Tape(x *Node, w []*Node) []*Node {
	return []*Node{c.Adjacency.Bare(w[3:]).Product(x), x}
}

// PullX is the cotangent of X, which is Â (Q W^T) + Q V^T, since Â is symmetric. Q is the cotangent of Â X W + X V.
func (c SAGE) PullX(q *Node, _, w []*Node) (*Node, []*Node) {
	far := c.Adjacency.Bare(w[3:]).Product(Dot(q, Transpose(w[0], 0, 1)).Product())
	return Add(far, Dot(q, Transpose(w[2], 0, 1)).Product()), nil
}

// PullW are the cotangents of W, b and V. Q is the cotangent of Â X W + X V. The cotangent of W is (ÂX)^T Q, that of b
// is the sum of Q's rows, and that of V is X^T Q.
func (c SAGE) PullW(q *Node, _, tape, _ []*Node) []*Node {
	return []*Node{Dot(Transpose(tape[0], 0, 1), q).Product(), loop.Sum(q), Dot(Transpose(tape[1], 0, 1), q).Product()}
}
