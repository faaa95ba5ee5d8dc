package solve

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// fixedPoint is a fixed-point iteration. It ends when its residual falls below the tolerance, after at least one step
// and at most limit steps.
//
// The residual is the mean absolute value of the iterate's last change, as in the paper. If linear is set, for
// iterations z = v - J z, the residual is twice the expected error of the iterate, if this is less. The expected error
// is the sum of all changes that further steps would make. With δ the last change, and θ the rate of convergence, which
// is the ratio of the last two changes, it is a geometric series with the sum δ θ/(1-θ) (Hairer and Wanner, Solving
// Ordinary Differential Equations II, section IV.8, on ending Newton's iteration). If convergence is fast, the error is
// much smaller than the last change. The last change alone would then ask for one iteration more than is needed.
//
// If the caller corrects the iterate afterwards (see [chain.pullBack]), the correction multiplies the error by the
// factor θ once more. But it leaves at least the error of the correction itself, which is least times the error before
// the correction. So the residual is multiplied by max(θ, least), where least <= 1.
type fixedPoint[S, R any] struct {
	limit  int
	linear bool
	// step returns the next state, and the mean absolute change of the iterate, a scalar.
	step func(state S, reads R) (next S, change *Node)
	// tolerance is the residual below which the iteration ends.
	tolerance *Node
	// rate is the rate of convergence of an earlier, similar iteration, or 1 if none is known. If the caller corrects
	// the iterate after the iteration (see [fixedPoint]), least says how much of the error remains at least: it is the
	// smallest ratio of the error after the correction to the error before it. If the caller makes no correction, least
	// is 1. Both rate and least are read only if linear is set.
	rate, least *Node
}

// end says how an iteration ended: its number of steps, its last residual, and its last rate of convergence.
type end struct{ count, residual, rate *Node }

// progress is the loop state of an iteration: the count, residual and rate so far, the last change, and the iterate.
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

// unfinished tells whether to go on after count iterations. residual is the residual after the last of them.
func unfinished(count, residual, tolerance *Node, limit int) *Node {
	g := count.Graph()
	first := Equal(count, loop.Int(g, 0))
	// If the residual is NaN, GreaterOrEqual is false, so that the loop ends.
	return LogicalOr(first, LogicalAnd(LessThan(count, loop.Int(g, limit)), GreaterOrEqual(residual, tolerance)))
}
