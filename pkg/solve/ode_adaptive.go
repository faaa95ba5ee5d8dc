package solve

import (
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Step-size control (Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations I, section II.4), as in
// torchdiffeq. A step whose error, divided by the tolerance, is r <= 1 is accepted; any other is tried again. The size
// is then multiplied by safety / r^(1/p) for the order p: at least 1 after an accepted step and shrink after a rejected
// one, and at most grow.
const safety, shrink, grow = 0.9, 0.2, 10.0

// running is the outcome while the integration has not ended.
const running = -1

// adaptive runs integrations with an adaptive method in one loop.
func (a integration[W]) adaptive(os []Integration) (out []Solution) {
	g, x, o, m := a.x.Graph(), a.x, os[0], stepper[W]{os[0].Method, a}
	most := max(1, (o.MaxEvaluations-2)/(len(m.B)-1)+1)
	c := course[W]{m, o, segmentOf(x, most), most}
	fixed := stopped(a.w)
	all := c.runAll(StopGradient(x), fixed, os)
	inputs := append(append([]*Node{x}, a.trainable...), a.adjoint)
	y := loop.Custom(all.ends, inputs, func(v *Node) []*Node {
		firsts, keeps := make([]int32, len(os)), make([]int32, len(os))
		for l := range os {
			firsts[l], keeps[l] = int32(l*most), int32(l*c.places())
		}
		l := legs{Const(g, firsts), Add(all.counts, loop.Like(loop.Int(g, 1), all.counts)), Const(g, keeps)}
		grads := m.steps(c.segment).back(l, v, all.log.kept, zeros(a.trainable), m.reads(fixed, all.log.grid))
		var pulls *Node
		for l := range os {
			pulls = loop.Accumulate(pulls, plus(times(element(all.counts, l), m.stages()), len(m.B)))
		}
		return append(append([]*Node{grads.x}, grads.w...), pair(pulls, loop.Float(x, 0)))
	})
	for l := range os {
		s := NoStats(x)
		s.Iterations, s.Outcome, s.Adjoint = element(all.evaluations, l), element(all.outcomes, l), a.adjoint
		out = append(out, Solution{element(y, l), s})
	}
	return out
}

// course is what is known of adaptive integrations, which differ only in To, before the program runs: their settings,
// the steps between checkpoints, and the most steps of each. A leg is one of the integrations.
type course[W any] struct {
	stepper[W]
	settings      Integration
	segment, most int
}

// places is the number of places for a leg's checkpoints, and one that is never read, for states that are none.
func (c course[W]) places() int { return (c.most+c.segment-1)/c.segment + 1 }

// log is what all steps record for the backward pass, with the sign of To, and a stack of the checkpoints.
type log struct {
	grid
	kept *Node
}

// legEnds has the log and, for each leg, its last state and what [walk] counts.
type legEnds struct {
	log                                 log
	ends, counts, evaluations, outcomes *Node
}

// runAll computes one leg after the other, from x.
func (c course[W]) runAll(x *Node, w W, os []Integration) legEnds {
	g, b := x.Graph(), c.B
	signed := make([]float64, len(os))
	for l, o := range os {
		signed[l] = o.To
	}
	none, numbers := vector(x, make([]float64, c.most*len(os))), Const(g, make([]int32, len(os)))
	weights := BroadcastToDims(row(vector(x, b)), c.most*len(os), len(b))
	first := log{grid{none, none, weights}, stack(x, c.places()*len(os))}
	start := legEnds{first, stack(x, len(os)), numbers, numbers, numbers}
	type reads struct {
		to, x *Node
		w     W
	}
	all := reads{Const(g, signed), x, w}
	return loop.Repeat(loop.Int(g, len(os)), start, all, func(l *Node, s legEnds, r reads) legEnds {
		end := c.run(l, entry(r.to, l), r.x, s.log, r.w)
		return legEnds{end.log, store(s.ends, end.y, l), put(s.counts, end.count, l),
			put(s.evaluations, end.evaluations, l), put(s.outcomes, end.outcome, l)}
	})
}

// walk is the loop state of an adaptive integration. The time t, from 0 to |To|, and the step size dt are in double
// precision. If To is negative, the field is evaluated at -t, with the step size -dt.
type walk struct {
	log
	t, dt *Node
	// x is the state at time t, and k the slope there. y is the state at the end time, once a step has reached it.
	x, k, y *Node
	// count is the number of accepted steps but the last, evaluations is that of the field, and outcome is running
	// until the end.
	count, evaluations, outcome *Node
	scratch                     *Node
}

// goal is what a leg reads: its number, |To| and the sign of To, and the weights.
type goal[W any] struct {
	leg, time, sign *Node
	w               W
}

// run computes a leg from the state x at time 0 to the time to, after the log of the legs before it.
func (c course[W]) run(leg, to, x *Node, first log, w W) walk {
	g := x.Graph()
	sign := ConvertDType(Sign(to), x.DType())
	slope := c.field.Apply(loop.Float(x, 0), x, w)
	start := walk{log: first, t: loop.Const(g, 0.0), dt: c.firstStep(sign, x, slope, w),
		x: x, k: slope, y: loop.Zeros(x), count: loop.Int(g, 0), evaluations: loop.Int(g, 2),
		outcome: loop.Int(g, running), scratch: stack(x, len(c.B))}
	end := loop.While(start, goal[W]{leg, Abs(to), sign, w},
		func(s walk, _ goal[W]) *Node { return Equal(s.outcome, loop.Int(s.outcome.Graph(), running)) }, c.tryStep)
	end.weights = put(end.weights, c.dense(x, fraction(Abs(to), end.t, end.dt)),
		Add(times(leg, c.most), end.count))
	return end
}

// tryStep computes a step. If its error is too large, the next call computes a smaller one from the same state.
func (c course[W]) tryStep(s walk, to goal[W]) walk {
	g := s.x.Graph()
	own := func(v *Node) *Node { return ConvertDType(v, s.x.DType()) }
	t, h := Mul(own(s.t), to.sign), Mul(own(s.dt), to.sign)
	// Only the first step of a segment stores a checkpoint; others store their state where it is never read.
	place := Div(s.count, loop.Int(g, c.segment))
	begins := Equal(times(place, c.segment), s.count)
	s.kept = store(s.kept, s.x, Add(times(to.leg, c.places()), Where(begins, place, loop.Int(g, c.places()-1))))
	number := Add(times(to.leg, c.most), s.count)
	s.times, s.sizes = put(s.times, t, number), put(s.sizes, h, number)

	step := c.try(t, s.x, h, s.k, c.dense(s.x, fraction(to.time, s.t, s.dt)), s.scratch, to.w)
	ratio := Sqrt(meanSquare(Div(step.error, c.settings.tolerance(Max(Abs(s.x), Abs(step.next))))))
	accepted := LessOrEqual(ratio, loop.Float(ratio, 1))
	next := Add(s.t, s.dt)
	done := LogicalAnd(accepted, GreaterOrEqual(next, to.time))
	moves := LogicalAnd(accepted, LogicalNot(done))

	s.y, s.scratch = step.dense, step.scratch
	s.x, s.k = loop.Select(moves, step.next, s.x), loop.Select(moves, step.slope, s.k)
	s.count = Add(s.count, ConvertDType(moves, dtypes.Int32))
	s.evaluations = plus(s.evaluations, len(c.B)-1)
	// The last step changes neither t nor dt, from which [course.run] computes where in it the end time lies.
	s.t = Where(moves, next, s.t)
	s.dt = Where(done, s.dt, Mul(s.dt, ConvertDType(c.factor(ratio, accepted), dtypes.Float64)))
	s.outcome = Where(done, loop.Int(g, Reached), c.failure(s, ratio))
	return s
}

// failure is the reason why an integration cannot go on, or running; ratio is the error ratio of the last step.
func (c course[W]) failure(s walk, ratio *Node) *Node {
	g := s.x.Graph()
	next := plus(s.evaluations, len(c.B)-1)
	outcome := loop.Int(g, running)
	outcome = Where(GreaterThan(next, loop.Int(g, c.settings.MaxEvaluations)), loop.Int(g, TooManyEvaluations), outcome)
	outcome = Where(LessOrEqual(Add(s.t, s.dt), s.t), loop.Int(g, StepTooSmall), outcome)
	return Where(NotEqual(ratio, ratio), loop.Int(g, NotFinite), outcome)
}

// factor multiplies the step size after a step with this error ratio; see [safety].
func (m Method) factor(ratio, accepted *Node) *Node {
	least := Where(accepted, loop.Float(ratio, 1), loop.Float(ratio, shrink))
	power := Pow(ratio, loop.Float(ratio, 1/float64(m.Order)))
	factor := Min(loop.Float(ratio, grow), Max(Div(loop.Float(ratio, safety), power), least))
	return Where(Equal(ratio, loop.Float(ratio, 0)), loop.Float(ratio, grow), factor)
}

// fraction says where the time end lies in a step of size dt from t: 0 at its beginning, 1 at its end.
func fraction(end, t, dt *Node) *Node { return Div(Sub(end, t), dt) }

// dense has the weight b_i(θ) = Σ_p Dense[i][p] θ^(p+1) of each stage, for θ = fraction. Of x, only graph and type are
// used.
func (m Method) dense(x, fraction *Node) *Node {
	theta := ConvertDType(fraction, x.DType())
	table := func(p int) *Node {
		column := make([]float64, len(m.Dense))
		for i, c := range m.Dense {
			column[i] = c[p]
		}
		return vector(x, column)
	}
	// Horner's rule, for all stages at once.
	b := table(3)
	for p := 2; p >= 0; p-- {
		b = Add(loop.Scale(b, theta), table(p))
	}
	return loop.Scale(b, theta)
}

func (o Integration) tolerance(size *Node) *Node {
	return Add(Mul(size, loop.Like(loop.Float(size, o.RelTol), size)), loop.Like(loop.Float(size, o.AbsTol), size))
}

// firstStep is the size of the first step, as in torchdiffeq, from the sizes of the state and its slope and the change
// of the slope in a small step (Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations I, section II.4).
func (c course[W]) firstStep(sign, x, slope *Node, w W) *Node {
	tolerance := c.settings.tolerance(Abs(x))
	norm := func(v *Node) *Node { return Sqrt(meanSquare(Div(v, tolerance))) }
	at := func(v float64) *Node { return loop.Float(x, v) }
	d0, d1 := norm(x), norm(slope)
	tiny := LogicalOr(LessThan(d0, at(1e-5)), LessThan(d1, at(1e-5)))
	h0 := Where(tiny, at(1e-6), Div(Mul(at(0.01), d0), d1))
	h := Mul(h0, sign)
	moved := c.field.Apply(h, Add(x, loop.Scale(slope, h)), w)
	d2 := Div(norm(Sub(moved, slope)), h0)
	flat := LogicalAnd(LessOrEqual(d1, at(1e-15)), LessOrEqual(d2, at(1e-15)))
	h1 := Where(flat, Max(at(1e-6), Mul(h0, at(1e-3))), Pow(Div(at(0.01), Max(d1, d2)), at(1/float64(c.Order))))
	return ConvertDType(Min(Mul(at(100), h0), h1), dtypes.Float64)
}

// meanSquare is the mean of the squared entries of the matrix x, a scalar.
func meanSquare(x *Node) *Node { return loop.MeanAbs(Mul(x, x)) }
