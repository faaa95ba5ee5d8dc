package solve

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// fixedPoint is an iteration that ends when its residual falls below the tolerance, after one step at least and limit
// steps at most.
//
// The residual is the last change, in mean absolute value, as in the paper. With linear set, for iterations z = v - J
// z, it is twice the expected error of the iterate, where that is less: with δ the last change and θ the rate of
// convergence, the ratio of the last two changes, the changes still to come are a geometric series of sum δ θ/(1-θ)
// (Hairer and Wanner, Solving Ordinary Differential Equations II, section IV.8, on ending Newton's iteration). The
// last change alone would ask for an iteration more than needed where convergence is fast. Where a correction of the
// iterate is still to come, which leaves θ times the error, the residual is so much less: by the factor max(θ,
// least), least <= 1 being what the correction itself is off by.
type fixedPoint[S, R any] struct {
	limit  int
	linear bool
	// step is the next state, and by how much the iterate changed, a scalar.
	step func(state S, reads R) (next S, change *Node)
	// tolerance ends the iteration.
	tolerance *Node
	// rate is that of a similar linear iteration before, 1 if none is known, and least is 1 if no correction is to
	// come. They are read with linear set only.
	rate, least *Node
}

// end is how an iteration ended: the number of steps, and the residual and rate of the last.
type end struct{ count, residual, rate *Node }

// progress is an iteration's state: what it ends with, the last change, and what is iterated.
type progress[S any] struct {
	end
	change *Node
	state  S
}

// bounds are what an iteration reads.
type bounds[R any] struct {
	tolerance, least *Node
	reads            R
}

// run iterates from a state.
func (f fixedPoint[S, R]) run(state S, reads R) (S, end) {
	zero := loop.Float(f.tolerance, 0)
	start := progress[S]{end{loop.Int(zero.Graph(), 0), zero, f.rate}, zero, state}
	if !f.linear {
		start.change = nil
	}
	out := loop.While(start, bounds[R]{f.tolerance, f.least, reads},
		func(s progress[S], b bounds[R]) *Node { return unfinished(s.count, s.residual, b.tolerance, f.limit) },
		func(s progress[S], b bounds[R]) progress[S] {
			var change *Node
			s.state, change = f.step(s.state, b.reads)
			s.residual = change
			if f.linear {
				first := Equal(s.count, loop.Int(s.count.Graph(), 0))
				s.rate = Where(first, s.rate, Div(change, s.change))
				s.residual, s.change = remaining(change, s.rate, b.least), change
			}
			s.count = plus(s.count, 1)
			return s
		})
	return out.state, out.end
}

// remaining is the residual of a linear iteration after a change, at a rate of convergence.
func remaining(change, rate, least *Node) *Node {
	one := loop.Float(rate, 1)
	fast := LessThan(rate, loop.Float(rate, 1.0/3)) // where 2θ/(1-θ) < 1
	residual := Mul(change, Where(fast, Div(Add(rate, rate), Sub(one, rate)), one))
	return Mul(residual, Min(Max(rate, least), one))
}

// unfinished tells whether to go on after count iterations, the last of which left a residual.
func unfinished(count, residual, tolerance *Node, limit int) *Node {
	g := count.Graph()
	first := Equal(count, loop.Int(g, 0))
	// GreaterOrEqual is false for NaN, which ends the loop.
	return LogicalOr(first, LogicalAnd(LessThan(count, loop.Int(g, limit)), GreaterOrEqual(residual, tolerance)))
}
