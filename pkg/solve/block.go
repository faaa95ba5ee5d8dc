package solve

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// Block is the residual branch h of a layer f(X) = X + h(X; w), made up of a preactivation u and an activation σ that
// acts on each of its entries: h(X; w) = σ(u(X; w); w). X, u and h have shape [n, d]; w are the weights and whatever
// else is read: the first Trainable() of them receive gradients, the others (index arrays, say) do not.
//
// All methods are called inside loop bodies, under the rules of package loop: they may use
// nothing but their arguments.
type Block interface {
	// Trainable is the number of leading entries of w that receive gradients.
	Trainable() int
	// Preactivation is u(X; w).
	Preactivation(x *Node, w []*Node) *Node
	// Activate is σ(u; w), and Gate its vector-Jacobian product σ'(u; w) ∘ v.
	Activate(u *Node, w []*Node) *Node
	Gate(u, v *Node, w []*Node) *Node
	// Linearize is u(X; w), together with what its derivative at X needs.
	Linearize(x *Node, w []*Node) (u *Node, tape []*Node)
	// PullX is the vector-Jacobian product (∂u/∂X)^T q, of X's shape, and what of its computation PullW can use, if
	// anything. It is called repeatedly on one tape.
	PullX(q *Node, tape, w []*Node) (dx *Node, shared []*Node)
	// PullW are the vector-Jacobian products (∂h/∂w)^T v of the trainable weights, of their shapes, for q = σ'(u; w)
	// ∘ v. In the last layer of a chain, and in all of [PerLayer], shared is that of the iterate before q, which
	// differs from q by about the solve's tolerance.
	PullW(q *Node, shared, tape, w []*Node) []*Node
}

// Taper is a [Block] that spares work where u(X; w) is known already: Tape is the tape of Linearize without u.
type Taper interface {
	Block
	Tape(x *Node, w []*Node) []*Node
}

// keptBytes is what the preactivations of a reverse chain may take to be kept for its way back, and keptWidth the
// least width that they are kept for: evaluating one takes 2 n d² operations, and storing and reading it back 8 n d
// bytes and the clearing of as much memory, which was no faster for d of 64 and 128 (docs/notes/2026-11-compiler.md).
const keptBytes, keptWidth = 128 << 20, 256

// Keeps tells whether the reverse chain of a [Taper], with n nodes and so many layers of width d, keeps all
// preactivations.
func Keeps(n, d, depth int) bool {
	return d >= keptWidth && 4*int64(n)*int64(d)*int64(depth) <= keptBytes
}

// apply is h(X; w).
func apply(b Block, x *Node, w []*Node) *Node { return b.Activate(b.Preactivation(x, w), w) }
