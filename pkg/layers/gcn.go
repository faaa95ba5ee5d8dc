package layers

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// GCN is the residual branch of a graph convolution (Kipf and Welling, ICLR 2017; paper section 3.3) and, with a weight
// V for the node itself, of GraphSAGE (Hamilton et al., NeurIPS 2017):
//
//	h(X) = σ(Â X W + b),  h(X) = σ(Â X W + X V + b),  X: [n, d].
//
// Â is the symmetrically normalised adjacency of [sparse.SymNorm] and σ, in the paper, is ReLU. The spectral norm of Â
// is 1, so that Lip(h) <= ‖W‖ + ‖V‖ for every norm that is never below the spectral norm; [Bound] limits it.
type GCN struct{ Activation Activation }

// GCNWeights are the weights of [GCN]: W and V [d, d], B [d]. V may be nil.
type GCNWeights struct {
	W, B, V *Node
	A       sparse.Operator
}

func (c GCN) Preactivation(x *Node, w GCNWeights) *Node {
	u, _ := c.Linearize(x, w)
	return u
}

func (c GCN) Activate(u *Node, w GCNWeights) *Node { return c.Activation.biased(u, w.B) }
func (c GCN) Gate(u, v *Node, w GCNWeights) *Node  { return c.Activation.gate(u, v, w.B) }

// Linearize computes Â X W + X V. The tape is Â X and, with V, X.
func (c GCN) Linearize(x *Node, w GCNWeights) (*Node, []*Node) {
	tape := c.Tape(x, w)
	u := Dot(tape[0], w.W).Product()
	if w.V != nil {
		u = Add(u, Dot(x, w.V).Product())
	}
	return u, tape
}

// Tape is the tape of Linearize without u.
func (c GCN) Tape(x *Node, w GCNWeights) []*Node {
	tape := []*Node{w.A.Product(x)}
	if w.V != nil {
		tape = append(tape, x)
	}
	return tape
}

// PullX is Â^T (q W^T) + q V^T.
func (c GCN) PullX(q *Node, _ []*Node, w GCNWeights) (*Node, []*Node) {
	dx := w.A.Transposed().Product(Dot(q, Transpose(w.W, 0, 1)).Product())
	if w.V != nil {
		dx = Add(dx, Dot(q, Transpose(w.V, 0, 1)).Product())
	}
	return dx, nil
}

// PullW has (Â X)^T q, the sum of q's rows, and X^T q.
func (c GCN) PullW(q *Node, _, tape []*Node, w GCNWeights) GCNWeights {
	dw := GCNWeights{W: Dot(Transpose(tape[0], 0, 1), q).Product(), B: loop.Sum(q)}
	if w.V != nil {
		dw.V = Dot(Transpose(tape[1], 0, 1), q).Product()
	}
	return dw
}
