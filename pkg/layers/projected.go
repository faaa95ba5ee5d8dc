package layers

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/solve"
)

// Projection is the name of a normalisation P. P maps a state X, [n, d], to the nearest point of a convex set. Such a
// map never moves two states farther apart. So the Lipschitz constant of P is at most 1.
type Projection string

// ProjectionCenter makes the mean of every row 0, like the first step of LayerNorm (Ba, Kiros and Hinton 2016).
// ProjectionCenterNodes makes the mean of every column 0, like the first step of PairNorm (Zhao and Akoglu, ICLR 2020).
// ProjectionBall shortens rows that are longer than sqrt(d) to the length sqrt(d), where d is the number of columns.
// (LayerNorm gives every row this length.) The row x_i of a node becomes
//
//	x_i - mean of x_i's entries    by ProjectionCenter,
//	x_i - mean over j of x_j       by ProjectionCenterNodes,
//	x_i min(1, sqrt(d)/|x_i|)      by ProjectionBall.
const (
	ProjectionCenter      Projection = "center"
	ProjectionCenterNodes Projection = "center-nodes"
	ProjectionBall        Projection = "ball"
)

// Projections lists the names of all projections.
var Projections = []string{string(ProjectionCenter), string(ProjectionCenterNodes), string(ProjectionBall)}

// of returns y = P(x), where P is the projection with the name p. It also returns the tape: the arrays that the
// derivative of P needs. For ProjectionBall, these arrays are P(x), and an array [n, 1] with the factor
// min(1, sqrt(d)/|x_i|) of every row x_i. For the other projections, the tape is nil.
func (p Projection) of(x *Node) (y *Node, tape []*Node) {
	n, d := x.Shape().Dimensions[0], float64(x.Shape().Dimensions[1])
	switch p {
	case ProjectionCenterNodes:
		mean := loop.Sum(x)
		return Sub(x, rowVector(loop.Scale(mean, loop.Float(mean, 1/float64(n))), x)), nil
	case ProjectionBall:
		squares := rowDots(x, x)
		most := loop.Like(loop.Float(squares, d), squares)
		scale := Sqrt(Div(most, Max(squares, most))) // exactly 1 within the ball
		y = Mul(x, BroadcastToShape(scale, x.Shape()))
		return y, []*Node{y, scale}
	}
	mean := Dot(x, BroadcastToDims(loop.Float(x, 1/d), int(d), 1)).Product()
	return Sub(x, BroadcastToShape(mean, x.Shape())), nil
}

// pull computes the cotangent of x from v, the cotangent of P(x). The cotangent of x is P'(x)^T v, where P'(x) is the
// Jacobian of P. All projections except ProjectionBall are linear maps with a symmetric matrix, so that the cotangent
// of x is P(v). For ProjectionBall, let x_i be row i of x, and v_i row i of v. If x_i is not longer than sqrt(d), row i
// of the result is v_i. If x_i is longer, the component of v_i in the direction of x_i is removed, and the rest is
// multiplied by sqrt(d)/|x_i|.
func (p Projection) pull(v *Node, tape []*Node) *Node {
	if p != ProjectionBall {
		y, _ := p.of(v)
		return y
	}
	y, scale := tape[0], tape[1]
	one := loop.Like(loop.Float(scale, 1), scale)
	// y is P(x). In a row that P has shortened, the component of v_i in the direction of y_i is (y_i·v_i / |y_i|²) y_i.
	// The factor of y_i is called along. It equals y_i·v_i / d, since |y_i|² is d. In the other rows, nothing is
	// removed from v_i, and along is 0.
	along := loop.Scale(rowDots(y, v), loop.Float(y, 1/float64(y.Shape().Dimensions[1])))
	along = Where(LessThan(scale, one), along, loop.Zeros(along))
	spread := func(rows *Node) *Node { return BroadcastToShape(rows, v.Shape()) }
	return Mul(spread(scale), Sub(v, Mul(y, spread(along))))
}

// kept is the number of arrays that the derivative of P needs: see [Projection.of].
func (p Projection) kept() int {
	if p == ProjectionBall {
		return 2
	}
	return 0
}

// Projected is the branch X ↦ h(P(X)), where the embedded Block is h, and P is the projection. P never moves two states
// farther apart. So the Lipschitz constant of Projected is at most that of h. Projected implements solve.Block. It
// reads the arrays that h reads.
type Projected struct {
	solve.Block
	Projection Projection
}

// Preactivation is the preactivation of h at P(X).
func (b Projected) Preactivation(x *Node, w []*Node) *Node {
	y, _ := b.Projection.of(x)
	return b.Block.Preactivation(y, w)
}

// Linearize computes the preactivation of h at P(X). The tape has the arrays that the derivative of P needs, followed
// by the tape of h.
func (b Projected) Linearize(x *Node, w []*Node) (*Node, []*Node) {
	y, kept := b.Projection.of(x)
	u, tape := b.Block.Linearize(y, w)
	return u, append(kept, tape...)
}

// PullX returns the cotangent of X. The PullX of h computes the cotangent of P(X). From this cotangent, the
// vector-Jacobian product of P computes the cotangent of X. PullX also returns the arrays that the PullX of h returns
// for the PullW of h.
func (b Projected) PullX(q *Node, tape, w []*Node) (*Node, []*Node) {
	k := b.Projection.kept()
	v, shared := b.Block.PullX(q, tape[k:], w)
	return b.Projection.pull(v, tape[:k]), shared
}

// PullW are the cotangents of h's weights, computed by h's PullW.
func (b Projected) PullW(q *Node, shared, tape, w []*Node) []*Node {
	return b.Block.PullW(q, shared, tape[b.Projection.kept():], w)
}
