package solve

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// fixedPoint is the iteration z = step(z, fixed). It ends when the residual falls below the tolerance, after one iteration at
// least and limit iterations at most.
//
// The residual is the last change, in mean absolute value, as in the paper. With linear set, for iterations z = v - J z, it is
// twice the expected error of the iterate, where that is less: with δ the last change and θ the rate of convergence, the ratio
// of the last two changes, the changes still to come are a geometric series of sum δ θ/(1-θ) (Hairer and Wanner, Solving
// Ordinary Differential Equations II, section IV.8, on ending Newton's iteration). The last change alone would ask for an
// iteration more than needed where convergence is fast.
type fixedPoint struct {
	limit  int
	linear bool
	// step is the next iterate, and what else the last step is to hand over.
	step func(z *Node, fixed []*Node) (*Node, []*Node)
}

// end is how an iteration ended: the number of iterations, and the residual and rate of the last.
type end struct{ count, residual, rate *Node }

// run starts from z. rate is that of a similar linear iteration before, 1 if none is known. beside holds values of the shapes of
// what steps return beside the iterate. It returns the last iterate and what the last step returned with it.
func (f fixedPoint) run(z *Node, fixed []*Node, tolerance, rate *Node, beside ...*Node) (*Node, []*Node, end) {
	g := z.Graph()
	zero := loop.Float(z, 0)
	state := append([]*Node{z, loop.Int(g, 0), zero, rate, zero}, beside...)
	out := loop.While(state, append([]*Node{tolerance}, fixed...),
		func(s, fixed []*Node) *Node { return unfinished(s[1], s[2], fixed[0], f.limit) },
		func(s, fixed []*Node) []*Node {
			z, count, rate, before := s[0], s[1], s[3], s[4]
			next, rest := f.step(z, fixed[1:])
			change := loop.MeanAbs(Sub(next, z))
			residual := change
			if f.linear {
				first := Equal(count, loop.Int(count.Graph(), 0))
				rate = Where(first, rate, Div(change, before))
				one := loop.Float(rate, 1)
				fast := LessThan(rate, loop.Float(rate, 1.0/3)) // where 2θ/(1-θ) < 1
				residual = Mul(change, Where(fast, Div(Add(rate, rate), Sub(one, rate)), one))
			}
			return append([]*Node{next, Add(count, loop.Int(count.Graph(), 1)), residual, rate, change}, rest...)
		})
	return out[0], out[5:], end{out[1], out[2], out[3]}
}

// unfinished tells whether to go on after count iterations, the last of which left a residual.
func unfinished(count, residual, tolerance *Node, limit int) *Node {
	g := count.Graph()
	first := Equal(count, loop.Int(g, 0))
	// GreaterOrEqual is false for NaN, which ends the loop.
	return LogicalOr(first, LogicalAnd(LessThan(count, loop.Int(g, limit)), GreaterOrEqual(residual, tolerance)))
}
