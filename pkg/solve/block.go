package solve

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// Block is the residual branch h of a layer f(X) = X + h(X; w). It is composed of a preactivation u and an entrywise
// activation σ: h(X; w) = σ(u(X; w); w). X, u and h have shape [n, d]. w is a list of arrays: first the trainable
// weights, which receive gradients, and then other arrays that h reads, such as index arrays.
//
// All methods are called while the body of a loop is built. The documentation of package loop says which operations may
// fail in a body. The methods must not use nodes from outside the body, except their arguments.
type Block interface {
	// Trainable is the number of trainable weights, which are the first entries of w.
	Trainable() int
	// Preactivation is u(X; w).
	Preactivation(x *Node, w []*Node) *Node
	// Activate is σ(u; w). Gate is the vector-Jacobian product of the activation, σ'(u; w) ∘ v.
	Activate(u *Node, w []*Node) *Node
	Gate(u, v *Node, w []*Node) *Node
	// Linearize is u(X; w), together with a tape: a list of the arrays that PullX and PullW need to compute the
	// derivative of u at X.
	Linearize(x *Node, w []*Node) (u *Node, tape []*Node)
	// PullX is the vector-Jacobian product (∂u/∂X)^T q, of X's shape, where q has the shape of u. It also returns
	// intermediate results that PullW can reuse, if there are any. PullX may be called several times with the same
	// tape.
	PullX(q *Node, tape, w []*Node) (dx *Node, shared []*Node)
	// PullW are the vector-Jacobian products (∂h/∂w)^T v for the trainable weights, given q = σ'(u; w) ∘ v. The
	// argument shared is the second result of PullX. Mostly, PullX was given the same q. In some layers of a reverse
	// chain, PullX was given another q, which differs by about the tolerance of the solve: in the layer that the
	// backward pass reaches last and, with separate weights ([PerLayer]), in all layers.
	PullW(q *Node, shared, tape, w []*Node) []*Node
}

// Taper is a [Block] that has an additional method. Tape returns the tape of Linearize, but does not compute u. This
// saves work where u is already known.
type Taper interface {
	Block
	Tape(x *Node, w []*Node) []*Node
}

// A reverse chain keeps its preactivations for the backward pass if all of them take at most keptBytes bytes and have
// at least keptWidth columns. Otherwise the backward pass computes them again. For n rows and d columns, computing a
// preactivation again takes 2 n d² operations, and keeping it moves 8 n d bytes to memory and back. So the smaller d
// is, the less is gained by keeping. For d = 64 and d = 128 keeping was not faster (docs/notes/2026-11-compiler.md).
const keptBytes, keptWidth = 128 << 20, 256

// Keeps tells whether a reverse chain keeps the preactivations of all layers for the backward pass. Only a chain whose
// block is a [Taper] can keep them. If preactivations are not kept, the backward pass computes them again. The chain's
// states have n rows and d columns, and depth is the number of its layers. The memory of a chain that keeps its
// preactivations grows with depth, up to 128 MiB.
func Keeps(n, d, depth int) bool {
	return d >= keptWidth && 4*int64(n)*int64(d)*int64(depth) <= keptBytes
}

// apply is h(X; w).
func apply(b Block, x *Node, w []*Node) *Node { return b.Activate(b.Preactivation(x, w), w) }
