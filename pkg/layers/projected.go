package layers

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/solve"
)

// Projection is the name of a map P from a state X, [n, d], to the nearest point of a convex set. Such a map never
// moves two states farther apart. So it is a normalisation whose Lipschitz constant is at most 1.
type Projection string

// ProjectionCenter makes the mean of every row 0, like the first step of LayerNorm (Ba, Kiros and Hinton 2016).
// ProjectionCenterNodes makes the mean of every column 0, like the first step of PairNorm (Zhao and Akoglu, ICLR 2020).
// ProjectionBall shortens rows that are longer than sqrt(d) to the length sqrt(d), where d is the number of columns.
// (LayerNorm gives every row this length.) In this order, the projections map the row x_i of a node to
//
//	x_i - mean of x_i's entries,  x_i - mean over j of x_j,  x_i min(1, sqrt(d)/|x_i|).
const (
	ProjectionCenter      Projection = "center"
	ProjectionCenterNodes Projection = "center-nodes"
	ProjectionBall        Projection = "ball"
)

// Projections lists the names of all projections.
var Projections = []string{string(ProjectionCenter), string(ProjectionCenterNodes), string(ProjectionBall)}

// of returns y = P(x), and the arrays that the derivative of P needs. For the ball, these arrays are P(x) and the
// factors min(1, sqrt(d)/|x_i|) of all rows x_i, [n, 1]. The other projections need none.
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

// pull is the vector-Jacobian product P'(x)^T v, where v is the cotangent of P(x). All projections but the ball are
// linear and symmetric, so that this product is P(v). For the ball, let x_i and v_i be the rows of a node. If x_i is
// inside the ball, v_i is not changed. If x_i is outside the ball, the component of v_i in the direction of x_i is
// removed, and the rest is multiplied by sqrt(d)/|x_i|.
func (p Projection) pull(v *Node, tape []*Node) *Node {
	if p != ProjectionBall {
		y, _ := p.of(v)
		return y
	}
	y, scale := tape[0], tape[1]
	one := loop.Like(loop.Float(scale, 1), scale)
	// y is P(x). For a row i outside the ball, y_i·v_i / d equals y_i·v_i / |y_i|², since |y_i|² is d.
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

// Projected applies the branch h of a block to the projected state: X ↦ h(P(X)). The Lipschitz constant of Projected is
// at most that of h. Projected implements solve.Block. It reads the arrays that h reads.
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

// PullX is the cotangent of X, which is P'(X)^T times the cotangent of P(X). The PullX of h computes the cotangent of
// P(X). PullX shares with PullW the arrays that h's PullX shares.
func (b Projected) PullX(q *Node, tape, w []*Node) (*Node, []*Node) {
	k := b.Projection.kept()
	v, shared := b.Block.PullX(q, tape[k:], w)
	return b.Projection.pull(v, tape[:k]), shared
}

// PullW are the cotangents of h's weights, computed by h's PullW.
func (b Projected) PullW(q *Node, shared, tape, w []*Node) []*Node {
	return b.Block.PullW(q, shared, tape[b.Projection.kept():], w)
}
