package solve

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// fixedPoint is an iteration that ends when its residual falls below the tolerance, after at least one and at most
// limit steps.
//
// The residual is the last change of the iterate, in mean absolute value, as in the paper. With linear set, for
// iterations z = v - J z, it is twice the expected error of the iterate, where that is less. The expected error is the
// sum of the changes still to come, a geometric series: δ θ/(1-θ), with δ the last change and θ the rate of
// convergence, the ratio of the last two changes (Hairer and Wanner, Solving Ordinary Differential Equations II,
// section IV.8, on ending Newton's iteration). Where convergence is fast, the last change alone would ask for one
// iteration more than needed.
//
// Where the caller corrects the iterate afterwards (see [chain.pullBack]), the error shrinks by the factor θ once
// more, but to no less than the relative error of the correction itself: the residual is multiplied by max(θ, least),
// least <= 1.
type fixedPoint[S, R any] struct {
	limit  int
	linear bool
	// step returns the next state, and the mean absolute change of the iterate, a scalar.
	step func(state S, reads R) (next S, change *Node)
	// tolerance ends the iteration.
	tolerance *Node
	// rate is the convergence rate of an earlier, similar iteration (1 if none is known), and least the relative error
	// of the correction that follows (1 if none follows). Both are read only with linear set.
	rate, least *Node
}

// end is how an iteration ended: its number of steps, and its last residual and rate.
type end struct{ count, residual, rate *Node }

// progress is an iteration's loop state: the count, residual and rate so far, the last change, and the iterate.
type progress[S any] struct {
	end
	change *Node
	state  S
}

// bounds are what the loop reads but does not change.
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

// remaining is the residual of a linear iteration, from its last change and its rate of convergence; see [fixedPoint].
func remaining(change, rate, least *Node) *Node {
	one := loop.Float(rate, 1)
	fast := LessThan(rate, loop.Float(rate, 1.0/3)) // where 2θ/(1-θ) < 1
	residual := Mul(change, Where(fast, Div(Add(rate, rate), Sub(one, rate)), one))
	return Mul(residual, Min(Max(rate, least), one))
}

// unfinished tells whether to go on after count iterations. residual is the residual of the last one.
func unfinished(count, residual, tolerance *Node, limit int) *Node {
	g := count.Graph()
	first := Equal(count, loop.Int(g, 0))
	// GreaterOrEqual is false for NaN, which ends the loop.
	return LogicalOr(first, LogicalAnd(LessThan(count, loop.Int(g, limit)), GreaterOrEqual(residual, tolerance)))
}
