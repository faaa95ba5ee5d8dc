package solve

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// Block is the residual branch h of a layer f(X) = X + h(X; w), composed of a preactivation u and an entrywise
// activation σ: h(X; w) = σ(u(X; w); w). X, u and h have shape [n, d]. w lists the weights, followed by other arrays
// that h reads, such as index arrays: the first Trainable() entries receive gradients, the others do not.
//
// All methods are called inside loop bodies. They must keep to the rules of package loop, and may use no nodes but
// their arguments.
type Block interface {
	// Trainable is the number of leading entries of w that receive gradients.
	Trainable() int
	// Preactivation is u(X; w).
	Preactivation(x *Node, w []*Node) *Node
	// Activate is σ(u; w), and Gate its vector-Jacobian product σ'(u; w) ∘ v.
	Activate(u *Node, w []*Node) *Node
	Gate(u, v *Node, w []*Node) *Node
	// Linearize is u(X; w), together with a tape: a list of the arrays that PullX and PullW need to compute the
	// derivative at X.
	Linearize(x *Node, w []*Node) (u *Node, tape []*Node)
	// PullX is the vector-Jacobian product (∂u/∂X)^T q, of X's shape, together with any intermediate results that PullW
	// can reuse. It is called several times with the same tape.
	PullX(q *Node, tape, w []*Node) (dx *Node, shared []*Node)
	// PullW are the vector-Jacobian products (∂h/∂w)^T v for the trainable weights, given q = σ'(u; w) ∘ v. shared is
	// the second result of PullX for this q. (Deviation: in the layer that the backward pass of a reverse chain reaches
	// last, and in all layers of [PerLayer], it is that of the previous iterate of q, which differs from q by about the
	// solve's tolerance.)
	PullW(q *Node, shared, tape, w []*Node) []*Node
}

// Taper is a [Block] that saves work if u(X; w) is already known: its method Tape returns the tape of Linearize without
// computing u.
type Taper interface {
	Block
	Tape(x *Node, w []*Node) []*Node
}

// A reverse chain keeps its preactivations for the backward pass if all of them take at most keptBytes and the layers
// have at least keptWidth columns. Recomputing a preactivation takes 2 n d² operations. Keeping it moves 8 n d bytes to
// memory and back, which was not faster for d of 64 and 128 (docs/notes/2026-11-compiler.md).
const keptBytes, keptWidth = 128 << 20, 256

// Keeps tells whether the reverse chain of a [Taper], with n rows and depth layers of width d, keeps all preactivations
// for the backward pass, which saves computing them again. The memory of the chain then grows with depth, up to 128
// MiB.
func Keeps(n, d, depth int) bool {
	return d >= keptWidth && 4*int64(n)*int64(d)*int64(depth) <= keptBytes
}

// apply is h(X; w).
func apply(b Block, x *Node, w []*Node) *Node { return b.Activate(b.Preactivation(x, w), w) }
