package layers

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// GCN is the residual branch of a graph convolution (Kipf and Welling, ICLR 2017; paper section 3.3):
//
//	h(X) = σ(Â X W + b),  X: [n, d], W: [d, d], b: [d],
//
// where Â is the symmetrically normalised adjacency matrix of [sparse.SymNorm]. The paper has ReLU for σ. The spectral
// norm of Â is 1, and σ never moves two arguments farther apart. Therefore the Lipschitz constant Lip(h) is at most the
// spectral norm of W. It is also at most ‖W‖ for every norm that is never below the spectral norm. [Bound] limits ‖W‖.
// (If another matrix takes the place of Â, Lip(h) is at most the spectral norm of that matrix times ‖W‖.)
//
// GCN implements solve.Block. It reads W, b and the tensors of Adjacency, in this order.
type GCN struct {
	Adjacency  *sparse.Matrix
	Activation Activation
}

// Trainable is 2: W and b are trainable.
func (c GCN) Trainable() int { return 2 }

// Preactivation is Â X W.
func (c GCN) Preactivation(x *Node, w []*Node) *Node {
	u, _ := c.Linearize(x, w)
	return u
}

// Activate is σ(u + b), and Gate is v ∘ σ'(u + b).
func (c GCN) Activate(u *Node, w []*Node) *Node { return c.Activation.biased(u, w[1]) }
func (c GCN) Gate(u, v *Node, w []*Node) *Node  { return c.Activation.gate(u, v, w[1]) }

// Linearize computes Â X W. The tape is Â X.
func (c GCN) Linearize(x *Node, w []*Node) (*Node, []*Node) {
	tape := c.Tape(x, w)
	return Dot(tape[0], w[0]).Product(), tape
}

// Tape returns Â X, the tape of Linearize, without computing u.
func (c GCN) Tape(x *Node, w []*Node) []*Node { return []*Node{c.Adjacency.Bare(w[2:]).Product(x)} }

// PullX is the cotangent of X, which is Â^T (Q W^T). Q is the cotangent of Â X W.
func (c GCN) PullX(q *Node, _, w []*Node) (*Node, []*Node) {
	return c.Adjacency.Bare(w[2:]).Transposed().Product(Dot(q, Transpose(w[0], 0, 1)).Product()), nil
}

// PullW are the cotangents of W and of b. That of W is (ÂX)^T Q, and that of b is the sum of Q's rows. Q is the
// cotangent of Â X W.
func (c GCN) PullW(q *Node, _, tape, _ []*Node) []*Node {
	return []*Node{Dot(Transpose(tape[0], 0, 1), q).Product(), loop.Sum(q)}
}

// WeightedGCN is [GCN] with a symmetric matrix Â whose entries the model computes. Pattern says where Â has entries.
// WeightedGCN reads, in this order: W, b, the entries of Â, and the tensors of the pattern ([sparse.Pattern.Tensors]).
// The entries of Â are given as an array with one row for each place, [places, 1]. Rows for padding must be 0. The
// entries of Â get no gradient.
type WeightedGCN struct {
	GCN
	Pattern *sparse.Pattern
}

// product is Â X.
func (c WeightedGCN) product(x *Node, w []*Node) *Node { return c.Pattern.Bare(w[3:]).Product(w[2], x) }

// Preactivation is Â X W.
func (c WeightedGCN) Preactivation(x *Node, w []*Node) *Node {
	u, _ := c.Linearize(x, w)
	return u
}

// Linearize computes Â X W. The tape is Â X.
func (c WeightedGCN) Linearize(x *Node, w []*Node) (*Node, []*Node) {
	tape := c.Tape(x, w)
	return Dot(tape[0], w[0]).Product(), tape
}

// Tape returns Â X, the tape of Linearize, without computing u.
func (c WeightedGCN) Tape(x *Node, w []*Node) []*Node { return []*Node{c.product(x, w)} }

// PullX is the cotangent of X, which is Â^T (Q W^T) = Â (Q W^T), since Â is symmetric. Q is the cotangent of Â X W.
func (c WeightedGCN) PullX(q *Node, _, w []*Node) (*Node, []*Node) {
	return c.product(Dot(q, Transpose(w[0], 0, 1)).Product(), w), nil
}
