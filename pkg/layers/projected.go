package layers

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/solve"
)

// Projection maps a state X, [n, d], to the nearest point of a convex set. Such a map never moves two states farther
// apart: it is a normalisation with Lipschitz constant 1.
type Projection string

// The projections. "center" makes the mean of every row 0, as does the first step of LayerNorm (Ba, Kiros and Hinton
// 2016). "center-nodes" makes the mean of every column 0, as does the first step of PairNorm (Zhao and Akoglu, ICLR
// 2020). "ball" shortens rows to length sqrt(d), which is the length that LayerNorm gives every row; shorter rows stay.
// In this order, they map the row x_i of a node, with d entries, to
//
//	x_i - mean of x_i's entries,  x_i - mean of all x_j,  x_i min(1, sqrt(d)/|x_i|).
const (
	ProjectionCenter      Projection = "center"
	ProjectionCenterNodes Projection = "center-nodes"
	ProjectionBall        Projection = "ball"
)

// Projections lists the names of all projections.
var Projections = []string{string(ProjectionCenter), string(ProjectionCenterNodes), string(ProjectionBall)}

// of is P(x), with the tape of its derivative: P(x) and min(1, sqrt(d)/|x_i|), [n, 1], for the ball, and nothing for
// the other projections.
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

// pull is the vector-Jacobian product P'(x)^T v. All projections but the ball are linear and symmetric, so that it is
// P(v). For rows outside the ball, the part of v along P(x) is removed, and the rest is scaled by the same factor as x.
func (p Projection) pull(v *Node, tape []*Node) *Node {
	if p != ProjectionBall {
		y, _ := p.of(v)
		return y
	}
	y, scale := tape[0], tape[1]
	one := loop.Like(loop.Float(scale, 1), scale)
	along := loop.Scale(rowDots(y, v), loop.Float(y, 1/float64(y.Shape().Dimensions[1]))) // |y_i|² is d outside the ball
	along = Where(LessThan(scale, one), along, loop.Zeros(along))
	spread := func(rows *Node) *Node { return BroadcastToShape(rows, v.Shape()) }
	return Mul(spread(scale), Sub(v, Mul(y, spread(along))))
}

// kept is the number of arrays on the projection's tape.
func (p Projection) kept() int {
	if p == ProjectionBall {
		return 2
	}
	return 0
}

// Projected applies the branch h of a block to the projected state, X ↦ h(P(X)). Its Lipschitz constant is at most that
// of h. Projected implements solve.Block; its weights are those of h.
type Projected struct {
	solve.Block
	Projection Projection
}

// Preactivation is h's preactivation at P(X).
func (b Projected) Preactivation(x *Node, w []*Node) *Node {
	y, _ := b.Projection.of(x)
	return b.Block.Preactivation(y, w)
}

// Linearize keeps what the derivatives of P and of h need.
func (b Projected) Linearize(x *Node, w []*Node) (*Node, []*Node) {
	y, kept := b.Projection.of(x)
	u, tape := b.Block.Linearize(y, w)
	return u, append(kept, tape...)
}

// PullX is P'(X)^T times the result of h's PullX, and shares what h's PullX shares.
func (b Projected) PullX(q *Node, tape, w []*Node) (*Node, []*Node) {
	k := b.Projection.kept()
	v, shared := b.Block.PullX(q, tape[k:], w)
	return b.Projection.pull(v, tape[:k]), shared
}

// PullW is h's.
func (b Projected) PullW(q *Node, shared, tape, w []*Node) []*Node {
	return b.Block.PullW(q, shared, tape[b.Projection.kept():], w)
}
