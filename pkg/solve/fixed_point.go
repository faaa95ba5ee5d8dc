package solve

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// fixedPoint is an iteration that ends when its residual falls below the tolerance, after one step at least and limit steps at
// most.
//
// The residual is the last change, in mean absolute value, as in the paper. With linear set, for iterations z = v - J z, it is
// twice the expected error of the iterate, where that is less: with δ the last change and θ the rate of convergence, the ratio
// of the last two changes, the changes still to come are a geometric series of sum δ θ/(1-θ) (Hairer and Wanner, Solving
// Ordinary Differential Equations II, section IV.8, on ending Newton's iteration). The last change alone would ask for an
// iteration more than needed where convergence is fast. Where a correction of the iterate is still to come, which leaves θ times the
// error, the residual is so much less: by the factor max(θ, least), least <= 1 being what the correction itself is off by.
type fixedPoint struct {
	limit  int
	linear bool
	// step is the next state, and by how much the iterate changed, a scalar.
	step func(state, fixed []*Node) (next []*Node, change *Node)
}

// end is how an iteration ended: the number of steps, and the residual and rate of the last.
type end struct{ count, residual, rate *Node }

// run iterates from a state; rate is that of a similar linear iteration before, 1 if none is known, and least is 1 if no correction
// is to come.
func (f fixedPoint) run(state, fixed []*Node, tolerance, rate, least *Node) ([]*Node, end) {
	g := tolerance.Graph()
	zero := loop.Float(tolerance, 0)
	all := append([]*Node{loop.Int(g, 0), zero, rate, zero}, state...)
	out := loop.While(all, append([]*Node{tolerance, least}, fixed...),
		func(s, fixed []*Node) *Node { return unfinished(s[0], s[1], fixed[0], f.limit) },
		func(s, fixed []*Node) []*Node {
			count, rate, before := s[0], s[2], s[3]
			next, change := f.step(s[4:], fixed[2:])
			residual := change
			if f.linear {
				first := Equal(count, loop.Int(count.Graph(), 0))
				rate = Where(first, rate, Div(change, before))
				one := loop.Float(rate, 1)
				fast := LessThan(rate, loop.Float(rate, 1.0/3)) // where 2θ/(1-θ) < 1
				residual = Mul(change, Where(fast, Div(Add(rate, rate), Sub(one, rate)), one))
				residual = Mul(residual, Min(Max(rate, fixed[1]), one))
			}
			return append([]*Node{plus(count, 1), residual, rate, change}, next...)
		})
	return out[4:], end{out[0], out[1], out[2]}
}

// unfinished tells whether to go on after count iterations, the last of which left a residual.
func unfinished(count, residual, tolerance *Node, limit int) *Node {
	g := count.Graph()
	first := Equal(count, loop.Int(g, 0))
	// GreaterOrEqual is false for NaN, which ends the loop.
	return LogicalOr(first, LogicalAnd(LessThan(count, loop.Int(g, limit)), GreaterOrEqual(residual, tolerance)))
}
