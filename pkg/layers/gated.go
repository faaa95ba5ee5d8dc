package layers

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/solve"
)

// Gated multiplies the branch h of another block by gates, entry by entry:
//
//	X ↦ G ∘ h(X),  G: [n, d], entries between 0 and 1.
//
// There is a gate for each node and each feature. Highway networks have such gates, too (Srivastava, Greff and
// Schmidhuber 2015), but here G does not depend on X. The Lipschitz constant of Gated is at most the Lipschitz constant
// of h times the largest gate. Gated implements solve.Block. It reads G, which is trainable, and then the arrays that h
// reads.
//
// Gated has no activation of its own: its preactivation is the whole branch, G ∘ h(X). The reason is the method PullW,
// which must compute the cotangent of G. To do so, it needs the cotangent of G ∘ h(X). But the argument q of PullW is
// always the cotangent of the preactivation. So G ∘ h(X) must be the preactivation.
//
// This has a drawback. A reverse chain extrapolates the preactivations of earlier layers, to compute the first guess of
// each solve. From layer to layer, G ∘ h(X) changes less smoothly than the preactivation of h, so that the first guess
// is less good.
type Gated struct{ solve.Block }

// Trainable is the number of h's trainable weights, plus 1 for G.
func (b Gated) Trainable() int { return 1 + b.Block.Trainable() }

// Preactivation is G ∘ h(X).
func (b Gated) Preactivation(x *Node, w []*Node) *Node {
	return b.scaled(b.Block.Preactivation(x, w[1:]), w)
}

// scaled computes G ∘ h(X) from u, the preactivation of h.
func (b Gated) scaled(u *Node, w []*Node) *Node { return Mul(w[0], b.Block.Activate(u, w[1:])) }

// Activate returns u, and Gate returns v, since Gated has no activation.
func (Gated) Activate(u *Node, _ []*Node) *Node { return u }
func (Gated) Gate(_, v *Node, _ []*Node) *Node  { return v }

// Linearize computes G ∘ h(X). The tape is the preactivation of h, followed by the tape of h.
func (b Gated) Linearize(x *Node, w []*Node) (*Node, []*Node) {
	u, tape := b.Block.Linearize(x, w[1:])
	return b.scaled(u, w), append([]*Node{u}, tape...)
}

// within computes the cotangent of h's preactivation from q, the cotangent of G ∘ h(X).
func (b Gated) within(q *Node, tape, w []*Node) *Node {
	return b.Block.Gate(tape[0], Mul(w[0], q), w[1:])
}

// PullX calls h's PullX with the cotangent of h's preactivation, and returns what h's PullX returns.
func (b Gated) PullX(q *Node, tape, w []*Node) (*Node, []*Node) {
	return b.Block.PullX(b.within(q, tape, w), tape[1:], w[1:])
}

// PullW computes the cotangents of G and of h's weights. The cotangent of G is q ∘ h(X), where q is the cotangent of
// G ∘ h(X). The PullW of h computes the cotangents of h's weights.
func (b Gated) PullW(q *Node, shared, tape, w []*Node) []*Node {
	dw := b.Block.PullW(b.within(q, tape, w), shared, tape[1:], w[1:])
	return append([]*Node{Mul(q, b.Block.Activate(tape[0], w[1:]))}, dw...)
}
