package solve

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// fixedPoint is a fixed-point iteration. In this file, a step is one iteration of a solve. A step computes the next
// state, of type S, and reads values of type R, which steps do not change. Steps are repeated until the residual is
// below the tolerance. At least one step is made, and at most as many as the field limit says.
//
// Let δ be the mean absolute change of the iterate in the last step. If the field linear is false, the residual is δ,
// as in the paper.
//
// If the field linear is true, the iteration is z ← v - J z with a constant matrix J, and the error that is left can be
// estimated. Let θ be the rate of convergence: δ divided by the change in the step before. Further steps would change
// the iterate by about δ θ, δ θ², and so on. The sum of these changes, δ θ/(1-θ), is the expected error (Hairer and
// Wanner, Solving Ordinary Differential Equations II, section IV.8, on ending Newton's iteration). If θ is below 1/3,
// twice the expected error is less than δ, and the residual is twice the expected error. Otherwise the residual is δ.
// This saves an iteration where convergence is fast, since the error is then much smaller than δ.
//
// After such an iteration, the caller may correct the last iterate by a computation that works like one more step, but
// with a slightly different J (see [chain.pullBack]). With the same J, the correction would multiply the error by θ.
// With a different J, it is assumed to multiply the error by max(θ, least), but not by more than 1, where least is a
// field. The residual is multiplied by the same factor. So it describes the error after the correction. If the caller
// makes no correction, least is 1, and so is the factor.
type fixedPoint[S, R any] struct {
	limit  int
	linear bool
	// step returns the next state, and the mean absolute change of the iterate, which is a scalar. reads are values
	// that steps read but do not change.
	step func(state S, reads R) (next S, change *Node)
	// tolerance is the limit for the residual: the iteration ends when the residual is below it.
	tolerance *Node
	// rate is the rate of convergence θ of an earlier, similar iteration, or 1 if none is known. The first step uses
	// rate as its θ, since there is no step before it. least is the smallest factor by which a correction after the
	// iteration is assumed to multiply the error (see [fixedPoint]). It is 1 if the caller makes no correction. rate
	// and least are read only if the field linear is true.
	rate, least *Node
}

// end says how an iteration ended.
type end struct{ count, residual, rate *Node }

// progress is the state of an iteration; change is the last one.
type progress[S any] struct {
	end
	change *Node
	state  S
}

type bounds[R any] struct {
	tolerance, least *Node
	reads            R
}

// run iterates from the given state.
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

// remaining is the residual of a linear iteration.
func remaining(change, rate, least *Node) *Node {
	one := loop.Float(rate, 1)
	fast := LessThan(rate, loop.Float(rate, 1.0/3)) // then 2θ/(1-θ) < 1
	residual := Mul(change, Where(fast, Div(Add(rate, rate), Sub(one, rate)), one))
	return Mul(residual, Min(Max(rate, least), one))
}

// unfinished tells whether a further iteration is needed after count of them.
func unfinished(count, residual, tolerance *Node, limit int) *Node {
	g := count.Graph()
	first := Equal(count, loop.Int(g, 0))
	// If the residual is NaN, GreaterOrEqual is false, so that the loop ends.
	return LogicalOr(first, LogicalAnd(LessThan(count, loop.Int(g, limit)), GreaterOrEqual(residual, tolerance)))
}
