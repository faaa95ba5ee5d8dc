package solve

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// fixedPoint is a fixed-point iteration. In this file, a step is one iteration of a solve. Steps are repeated until the
// residual is below the tolerance. At least one step is made, and at most as many as the field limit says.
//
// The residual is usually δ, the mean absolute change of the iterate in the last step, as in the paper.
//
// If the field linear is true, the iteration is z ← v - J z with a constant matrix J, and the error that is left can be
// estimated. Let θ be the rate of convergence, which is the ratio of the last two changes. Further steps would change
// the iterate by about δ θ, δ θ², and so on. Their sum, δ θ/(1-θ), is the expected error (Hairer and Wanner, Solving
// Ordinary Differential Equations II, section IV.8, on ending Newton's iteration). If θ is below 1/3, twice the
// expected error is less than δ, and the residual is twice the expected error. Otherwise the residual is δ. If
// convergence is fast, the error is much smaller than δ, and a test of δ alone would ask for one iteration more than
// needed.
//
// The caller may correct the iterate after the iteration (see [chain.pullBack]). The correction is like one more step
// with a slightly different J. With the same J, the correction would multiply the error by θ. Since J differs, the
// error is assumed to be multiplied by a certain fraction or more. This fraction is the value of the field named
// "least". If the field linear is true, the residual is therefore multiplied by max(θ, least), but not by more than 1.
type fixedPoint[S, R any] struct {
	limit  int
	linear bool
	// step returns the next state, and the mean absolute change of the iterate, which is a scalar.
	step func(state S, reads R) (next S, change *Node)
	// tolerance is the limit for the residual: the iteration ends when the residual is below it.
	tolerance *Node
	// rate is the rate of convergence θ of an earlier, similar iteration, or 1 if none is known. It stands for θ in the
	// first step. least is the smallest fraction of the error that a correction after the iteration is assumed to leave
	// (see [fixedPoint]), or 1 if the caller makes no correction. rate and least are read only if the field linear is
	// true.
	rate, least *Node
}

// end says how an iteration ended: its number of steps, its last residual, and its last rate of convergence.
type end struct{ count, residual, rate *Node }

// progress is the loop state of an iteration: the number of steps, the residual and the rate of convergence so far, the
// last change, and the state, which contains the iterate.
type progress[S any] struct {
	end
	change *Node
	state  S
}

// bounds are the values that the loop reads but does not change.
type bounds[R any] struct {
	tolerance, least *Node
	reads            R
}

// run iterates, beginning with the given state. It returns the last state, and how the iteration ended.
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

// remaining is the residual of a linear iteration, computed from the last change δ, the rate of convergence θ, and the
// fraction called least; see [fixedPoint].
func remaining(change, rate, least *Node) *Node {
	one := loop.Float(rate, 1)
	fast := LessThan(rate, loop.Float(rate, 1.0/3)) // then 2θ/(1-θ) < 1
	residual := Mul(change, Where(fast, Div(Add(rate, rate), Sub(one, rate)), one))
	return Mul(residual, Min(Max(rate, least), one))
}

// unfinished tells whether a further iteration is needed. The argument count is the number of iterations that have been
// made, and residual is the residual after the last of them.
func unfinished(count, residual, tolerance *Node, limit int) *Node {
	g := count.Graph()
	first := Equal(count, loop.Int(g, 0))
	// If the residual is NaN, GreaterOrEqual is false, so that the loop ends.
	return LogicalOr(first, LogicalAnd(LessThan(count, loop.Int(g, limit)), GreaterOrEqual(residual, tolerance)))
}
