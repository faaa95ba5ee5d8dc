package layers

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/solve"
)

// PairNorm subtracts the mean of all rows from every row x_i of x, [n, d], and then multiplies all rows by one factor
// (Zhao and Akoglu, ICLR 2020). The rows of the result are y_i:
//
//	c_i = x_i - mean over j of x_j,  y_i = scale c_i / sqrt(mean over j of |c_j|²).
//
// The mean of the squared distance |y_i - y_j|² over all pairs of rows is then 2 scale². If individually is true
// ("PairNorm-SI"), every row has a factor of its own, and the result is
//
//	y_i = scale c_i / |c_i|.
//
// As in the code of Zhao and Akoglu, 1e-6 is added to |c_i|², or to the mean of |c_j|², before the square root is
// taken.
func PairNorm(x *Node, scale float64, individually bool) *Node {
	n := float64(x.Shape().Dimensions[0])
	c := Sub(x, rowVector(MulScalar(loop.Sum(x), 1/n), x))
	squares := ReduceAndKeep(Square(c), ReduceSum, 1)
	if !individually {
		squares = ReduceAndKeep(squares, ReduceMean, 0)
	}
	return Div(MulScalar(c, scale), BroadcastToShape(Sqrt(AddScalar(squares, 1e-6)), c.Shape()))
}

// LayerNorm normalises each row to mean 0 and variance 1 (Ba, Kiros and Hinton 2016), with PyTorch's epsilon of 1e-5
// and without trainable parameters.
func LayerNorm(x *Node) *Node {
	x = Sub(x, ReduceAndKeep(x, ReduceMean, 1))
	return Div(x, Sqrt(AddScalar(ReduceAndKeep(Square(x), ReduceMean, 1), 1e-5)))
}

// Normalised is the block of layers whose result is normalised, f(X) = N(X + h(X)). The embedded Block is h. N is the
// normalisation, which GoMLX differentiates. A layer is always X plus the branch of its block. So the branch of
// Normalised is N(X + h(X)) - X. In general this branch is not a contraction, and the layer cannot be run backwards.
type Normalised struct {
	solve.Block
	N func(y *Node) *Node
}

// norm makes N differentiable in loop bodies, for arguments of y's shape.
func (b Normalised) norm(y *Node) *loop.Differentiable {
	return loop.Differentiate(func(in []*Node) *Node { return b.N(in[0]) }, []*Node{y}, 1)
}

// Preactivation is N(X + h(X)) - X.
func (b Normalised) Preactivation(x *Node, w []*Node) *Node {
	y := Add(x, b.Block.Activate(b.Block.Preactivation(x, w), w))
	return Sub(b.norm(y).Value([]*Node{y}), x)
}

// Activate returns u unchanged, since the preactivation of Normalised is already the whole branch N(X + h(X)) - X. For
// the same reason Gate, the vector-Jacobian product of Activate, returns v unchanged.
func (Normalised) Activate(u *Node, _ []*Node) *Node { return u }
func (Normalised) Gate(_, v *Node, _ []*Node) *Node  { return v }

// Linearize computes N(X + h(X)) - X. The tape is X + h(X) and the preactivation of h, followed by the tape of h.
func (b Normalised) Linearize(x *Node, w []*Node) (*Node, []*Node) {
	u, tape := b.Block.Linearize(x, w)
	y := Add(x, b.Block.Activate(u, w))
	return Sub(b.norm(y).Value([]*Node{y}), x), append([]*Node{y, u}, tape...)
}

// PullX returns the cotangent of X, and arrays for PullW: the cotangent of h's preactivation, followed by the arrays
// that the PullX of h returns for the PullW of h.
func (b Normalised) PullX(q *Node, tape, w []*Node) (*Node, []*Node) {
	norm := b.norm(tape[0])
	_, kept := norm.Linearize(tape[:1])
	v := norm.Pull(q, kept, nil)[0]
	inner := b.Block.Gate(tape[1], v, w)
	dx, shared := b.Block.PullX(inner, tape[2:], w)
	return Sub(Add(v, dx), q), append([]*Node{inner}, shared...)
}

// PullW are the cotangents of h's weights.
func (b Normalised) PullW(_ *Node, shared, tape, w []*Node) []*Node {
	return b.Block.PullW(shared[0], shared[1:], tape[2:], w)
}
