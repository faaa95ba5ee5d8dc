package layers

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/solve"
)

// Projection maps a state X, [n, d], to the nearest one in a convex set, and so never takes two states farther apart:
// it is a normalisation whose Lipschitz constant is 1.
type Projection string

// The projections, of a node's row x_i with d entries: LayerNorm's first step (Ba, Kiros and Hinton 2016), onto rows
// of mean 0; PairNorm's first step (Zhao and Akoglu, ICLR 2020), onto columns of mean 0; and onto rows no longer than
// LayerNorm makes all of them:
//
//	x_i - mean of x_i's entries,  x_i - mean of all x_j,  x_i min(1, sqrt(d)/|x_i|).
const (
	ProjectionCenter      Projection = "center"
	ProjectionCenterNodes Projection = "center-nodes"
	ProjectionBall        Projection = "ball"
)

// Projections are the names of all.
var Projections = []string{string(ProjectionCenter), string(ProjectionCenterNodes), string(ProjectionBall)}

// of is P(x), and what its derivative needs: for the ball P(x) and min(1, sqrt(d)/|x_i|), [n, 1].
func (p Projection) of(x *Node) (y *Node, tape []*Node) {
	n, d := x.Shape().Dimensions[0], float64(x.Shape().Dimensions[1])
	switch p {
	case ProjectionCenterNodes:
		mean := loop.Sum(x)
		return Sub(x, rowVector(loop.Scale(mean, loop.Float(mean, 1/float64(n))), x)), nil
	case ProjectionBall:
		squares := rowDots(x, x)
		most := loop.Like(loop.Float(squares, d), squares)
		scale := Sqrt(Div(most, Max(squares, most))) // 1, to the last digit, within the ball
		y = Mul(x, BroadcastToShape(scale, x.Shape()))
		return y, []*Node{y, scale}
	}
	mean := Dot(x, BroadcastToDims(loop.Float(x, 1/d), int(d), 1)).Product()
	return Sub(x, BroadcastToShape(mean, x.Shape())), nil
}

// pull is the vector-Jacobian product P'(x)^T v. Outside of the ball, the part of v along P(x) is lost; the other
// projections are linear and symmetric.
func (p Projection) pull(v *Node, tape []*Node) *Node {
	if p != ProjectionBall {
		y, _ := p.of(v)
		return y
	}
	y, scale := tape[0], tape[1]
	one := loop.Like(loop.Float(scale, 1), scale)
	along := loop.Scale(rowDots(y, v), loop.Float(y, 1/float64(y.Shape().Dimensions[1]))) // |y_i|² is d there
	along = Where(LessThan(scale, one), along, loop.Zeros(along))
	spread := func(rows *Node) *Node { return BroadcastToShape(rows, v.Shape()) }
	return Mul(spread(scale), Sub(v, Mul(y, spread(along))))
}

// kept is the number of nodes on the tape of of.
func (p Projection) kept() int {
	if p == ProjectionBall {
		return 2
	}
	return 0
}

// Projected is the branch h of a block after a projection, X ↦ h(P(X)), whose Lipschitz constant is at most that of h.
// It implements solve.Block; its weights are h's.
type Projected struct {
	solve.Block
	Projection Projection
}

// Preactivation is that of h at P(X).
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

// PullX is P'(X)^T times that of h, and shares what h's shares.
func (b Projected) PullX(q *Node, tape, w []*Node) (*Node, []*Node) {
	k := b.Projection.kept()
	v, shared := b.Block.PullX(q, tape[k:], w)
	return b.Projection.pull(v, tape[:k]), shared
}

// PullW are those of h.
func (b Projected) PullW(q *Node, shared, tape, w []*Node) []*Node {
	return b.Block.PullW(q, shared, tape[b.Projection.kept():], w)
}
