package solve

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// fixedPoint is a fixed-point iteration, for states of type S. In this file, a step is one iteration of a solve. Steps
// are repeated until the residual is below the tolerance. At least one step is made, and at most as many as the field
// limit says.
//
// The residual is usually δ, the mean absolute change of the iterate in the last step, as in the paper.
//
// If the field linear is true, the iteration is z ← v - J z with a constant matrix J, and the error that is left can be
// estimated. Let θ be the rate of convergence: the last change, divided by the change before it. Further steps would
// change the iterate by about δ θ, δ θ², and so on. The sum of these changes, δ θ/(1-θ), is the expected error (Hairer
// and Wanner, Solving Ordinary Differential Equations II, section IV.8, on ending Newton's iteration). If θ is below
// 1/3, the residual is twice the expected error, which is less than δ. Otherwise the residual is δ. This saves an
// iteration where convergence is fast, since the error is then much smaller than δ.
//
// In effect, the caller may correct the last iterate by one more step with a slightly different J (see
// [chain.pullBack]). With the same J, this step would multiply the error by θ. Since J differs, the error is assumed to
// be multiplied by at least the number in the field least. If the field linear is true, the residual describes the
// error after the correction: it is multiplied by max(θ, least), but not by more than 1.
type fixedPoint[S, R any] struct {
	limit  int
	linear bool
	// step returns the next state, and the mean absolute change of the iterate, which is a scalar. reads are values
	// that steps read but do not change.
	step func(state S, reads R) (next S, change *Node)
	// tolerance is the limit for the residual: the iteration ends when the residual is below it.
	tolerance *Node
	// rate is the rate of convergence θ of an earlier, similar iteration, or 1 if none is known. It is used for θ in
	// the first step. least is the smallest fraction of the error that a correction after the iteration is assumed to
	// leave (see [fixedPoint]). It is 1 if the caller makes no correction. rate and least are read only if the field
	// linear is true.
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

// remaining is the residual of a linear iteration. It is computed from the last change δ, the rate of convergence θ,
// and the fraction called least; see [fixedPoint].
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
