package layers

import (
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// GCN is the residual branch of a graph convolution (Kipf and Welling, ICLR 2017; paper section 3.3):
//
//	h(X) = ReLU(Â X W + b),  X: [n, d], W: [d, d], b: [d],
//
// with Â the symmetrically normalised adjacency of [sparse.SymNorm]. Since the spectral norm of Â is 1 and ReLU does not
// expand, Lip(h) <= |W|_F: see [Bound]. It implements solve.Block; its weights are W, b and the matrix's tensors, in that
// order.
type GCN struct{ Adjacency *sparse.Matrix }

// Trainable is 2: W and b.
func (c GCN) Trainable() int { return 2 }

func (c GCN) linear(x *Node, w []*Node) (ax, u *Node) {
	ax = c.Adjacency.On(w[2:]).Product(x)
	return ax, Add(Dot(ax, w[0]).Product(), rowVector(w[1], x))
}

// Apply is h(X).
func (c GCN) Apply(x *Node, w []*Node) *Node {
	_, u := c.linear(x, w)
	return loop.ReLU(u)
}

// Linearize keeps Â X and where ReLU is active.
func (c GCN) Linearize(x *Node, w []*Node) (*Node, []*Node) {
	ax, u := c.linear(x, w)
	return loop.ReLU(u), []*Node{ax, GreaterThan(u, loop.Zeros(u))}
}

// PullX is Â ((σ' ∘ V) W^T), using that Â is symmetric.
func (c GCN) PullX(v *Node, tape, w []*Node) (*Node, []*Node) {
	active := Where(tape[1], v, loop.Zeros(v))
	return c.Adjacency.On(w[2:]).Product(Dot(active, Transpose(w[0], 0, 1)).Product()), nil
}

// PullW are (ÂX)^T (σ' ∘ V) and the column sums of σ' ∘ V.
func (c GCN) PullW(v *Node, _, tape, _ []*Node) []*Node {
	active := Where(tape[1], v, loop.Zeros(v))
	return []*Node{Dot(Transpose(tape[0], 0, 1), active).Product(), loop.Sum(active)}
}

// rowVector spreads b over the rows of x.
func rowVector(b, x *Node) *Node {
	return BroadcastToShape(Reshape(b, 1, b.Shape().Size()), shapes.Make(x.DType(), x.Shape().Dimensions[0], b.Shape().Size()))
}
