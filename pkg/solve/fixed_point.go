package solve

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// fixedPoint is a fixed-point iteration of states S, whose steps read R, until the residual is below the tolerance: at
// least one step, and at most limit. The residual is the mean absolute change δ in the last step, as in the paper.
//
// In a linear iteration z ← v - J z with a constant J, changes go on as δ θ, δ θ², …, where θ is the rate of
// convergence, δ divided by the change before. The expected error is their sum, δ θ/(1-θ) (Hairer and Wanner, Solving
// Ordinary Differential Equations II, section IV.8, on ending Newton's iteration). If θ < 1/3, twice this error is less
// than δ, and is the residual, which saves an iteration.
//
// The caller may correct the last iterate afterwards, by one more step with a slightly different J (see
// [chain.pullBack]). This is taken to multiply the error, and so the residual, by max(θ, least), 1 at most.
type fixedPoint[S, R any] struct {
	limit  int
	linear bool
	// step returns the next state, and the mean absolute change of the iterate, a scalar.
	step      func(state S, reads R) (next S, change *Node)
	tolerance *Node
	// For linear iterations: θ of the first step, from an earlier, similar iteration, or 1, and least, 1 without a
	// correction.
	rate, least *Node
}

type end struct{ count, residual, rate *Node }

type progress[S any] struct {
	end
	change *Node
	state  S
}

type bounds[R any] struct {
	tolerance, least *Node
	reads            R
}

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

func unfinished(count, residual, tolerance *Node, limit int) *Node {
	g := count.Graph()
	first := Equal(count, loop.Int(g, 0))
	// NaN ends the loop.
	return LogicalOr(first, LogicalAnd(LessThan(count, loop.Int(g, limit)), GreaterOrEqual(residual, tolerance)))
}
