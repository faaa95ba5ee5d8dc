package layers

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// GCN is the residual branch of a graph convolution (Kipf and Welling, ICLR 2017; paper section 3.3):
//
//	h(X) = σ(Â X W + b),  X: [n, d],
//
// where Â is the symmetrically normalised adjacency of [sparse.SymNorm] and σ, in the paper, is ReLU. The spectral norm
// of Â is 1 and σ moves no two arguments farther apart, so that Lip(h) <= ‖W‖ for every norm that is never below the
// spectral norm; [Bound] limits it. GCN implements solve.Layer by hand.
type GCN struct{ Activation Activation }

// GCNWeights are the weights of [GCN]: W [d, d], B [d].
type GCNWeights struct {
	W, B *Node
	A    sparse.Operator
}

func (c GCN) Preactivation(x *Node, w GCNWeights) *Node {
	u, _ := c.Linearize(x, w)
	return u
}

func (c GCN) Activate(u *Node, w GCNWeights) *Node { return c.Activation.biased(u, w.B) }
func (c GCN) Gate(u, v *Node, w GCNWeights) *Node  { return c.Activation.gate(u, v, w.B) }

// Linearize computes Â X W. The tape is Â X.
func (c GCN) Linearize(x *Node, w GCNWeights) (*Node, []*Node) {
	tape := c.Tape(x, w)
	return Dot(tape[0], w.W).Product(), tape
}

// Tape is the tape of Linearize without u.
func (c GCN) Tape(x *Node, w GCNWeights) []*Node { return []*Node{w.A.Product(x)} }

// PullX is Â^T (q W^T).
func (c GCN) PullX(q *Node, _ []*Node, w GCNWeights) (*Node, []*Node) {
	return w.A.Transposed().Product(Dot(q, Transpose(w.W, 0, 1)).Product()), nil
}

// PullW has (Â X)^T q and the sum of q's rows.
func (c GCN) PullW(q *Node, _, tape []*Node, _ GCNWeights) GCNWeights {
	return GCNWeights{W: Dot(Transpose(tape[0], 0, 1), q).Product(), B: loop.Sum(q)}
}

// SAGE is the residual branch of a graph convolution with a weight for the node itself, as in GraphSAGE (Hamilton et
// al., NeurIPS 2017):
//
//	h(X) = σ(Â X W + X V + b),  X: [n, d].
//
// (In [GCN], W multiplies the features of a node and of its neighbours alike.) Lip(h) <= ‖W‖ + ‖V‖ for every norm that
// is never below the spectral norm; [Bound] limits the sum. SAGE implements solve.Layer by hand.
type SAGE struct{ Activation Activation }

// SAGEWeights are the weights of [SAGE]: W and V [d, d], B [d]. A must be symmetric.
type SAGEWeights struct {
	W, B, V *Node
	A       sparse.Operator
}

func (c SAGE) Preactivation(x *Node, w SAGEWeights) *Node {
	u, _ := c.Linearize(x, w)
	return u
}

func (c SAGE) Activate(u *Node, w SAGEWeights) *Node { return c.Activation.biased(u, w.B) }
func (c SAGE) Gate(u, v *Node, w SAGEWeights) *Node  { return c.Activation.gate(u, v, w.B) }

// Linearize computes Â X W + X V. The tape is Â X and X.
func (c SAGE) Linearize(x *Node, w SAGEWeights) (*Node, []*Node) {
	tape := c.Tape(x, w)
	return Add(Dot(tape[0], w.W).Product(), Dot(x, w.V).Product()), tape
}

// Tape is the tape of Linearize without u.
func (c SAGE) Tape(x *Node, w SAGEWeights) []*Node { return []*Node{w.A.Product(x), x} }

// PullX is Â (q W^T) + q V^T.
func (c SAGE) PullX(q *Node, _ []*Node, w SAGEWeights) (*Node, []*Node) {
	far := w.A.Product(Dot(q, Transpose(w.W, 0, 1)).Product())
	return Add(far, Dot(q, Transpose(w.V, 0, 1)).Product()), nil
}

// PullW has (Â X)^T q, the sum of q's rows, and X^T q.
func (c SAGE) PullW(q *Node, _, tape []*Node, _ SAGEWeights) SAGEWeights {
	return SAGEWeights{W: Dot(Transpose(tape[0], 0, 1), q).Product(), B: loop.Sum(q),
		V: Dot(Transpose(tape[1], 0, 1), q).Product()}
}
