package solve

import (
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Constants of the step-size control (Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations I, section
// II.4), as in torchdiffeq. The error ratio r of a step is its estimated error divided by the tolerance. A step with r
// <= 1 is accepted. Any other step is rejected, and tried again with a smaller size. After each try, the step size is
// multiplied by the factor safety / r^(1/p), where p is the order of the method ([Method].Order). The factor has
// limits: it is at least 1 after an accepted step, at least the constant shrink after a rejected step, and at most the
// constant grow.
const safety, shrink, grow = 0.9, 0.2, 10.0

// running is the value of the outcome while the integration has not ended.
const running = -1

// integrateAdaptive computes the integrations in the list os, which all start from x and differ only in their end times
// To. They run in one loop, so that the field is compiled once.
func integrateAdaptive(f field, x *Node, w []*Node, os []Integration, adjoint *Node) (out []Solution) {
	g, o, m := x.Graph(), os[0], os[0].Method
	most := max(1, (o.MaxEvaluations-2)/(len(m.B)-1)+1)
	c := course{o, f, segmentOf(x, most), most}
	fixed := stopped(w)
	all := c.runAll(StopGradient(x), fixed, os)
	inputs := append(append([]*Node{x}, w[:f.Trainable()]...), adjoint)
	y := loop.Custom(all.ends, inputs, func(v *Node) []*Node {
		firsts, keeps := make([]int32, len(os)), make([]int32, len(os))
		for l := range os {
			firsts[l], keeps[l] = int32(l*most), int32(l*c.places())
		}
		l := legs{Const(g, firsts), Add(all.counts, loop.Like(loop.Int(g, 1), all.counts)), Const(g, keeps)}
		grads := m.steps(f, c.segment).back(l, v, all.log.kept, zeros(fixed[:f.Trainable()]),
			m.reads(f, fixed, all.log.grid))
		var pulls *Node
		for l := range os {
			count := plus(times(element(all.counts, l), m.stages()), len(m.B))
			if pulls == nil {
				pulls = count
			} else {
				pulls = Add(pulls, count)
			}
		}
		return append(append([]*Node{grads.x}, grads.w...), pair(pulls, loop.Float(x, 0)))
	})
	for l := range os {
		s := NoStats(x)
		s.Iterations, s.Outcome, s.Adjoint = element(all.evaluations, l), element(all.outcomes, l), adjoint
		out = append(out, Solution{element(y, l), s})
	}
	return out
}

// course describes the integrations of [integrateAdaptive], as far as they are known before the program runs. All of
// them have the same settings, apart from To, and the same field. A leg is one of these integrations, from time 0 to
// its own end time. segment is the number of steps from one checkpoint to the next, and most is the largest number of
// steps that an integration can take.
type course struct {
	Integration
	field         field
	segment, most int
}

// places is the number of places for a leg's checkpoints: the largest number of checkpoints that the leg can have, plus
// one. The loop writes a state in every step. If this state is not a checkpoint, it is written to the additional place,
// which is never read.
func (c course) places() int { return (c.most+c.segment-1)/c.segment + 1 }

// log is what the steps of all legs record for the backward pass. Its [grid] has an entry for each step. The times and
// sizes in the grid have the sign of To. The field kept is a stack of the checkpoints.
type log struct {
	grid
	kept *Node
}

// legEnds is the result of all legs: the log, and for each leg its last state, its count, its number of evaluations and
// its outcome. [walk] explains count, evaluations and outcome.
type legEnds struct {
	log                                 log
	ends, counts, evaluations, outcomes *Node
}

// runAll computes the integrations in the list os, one after the other. Each starts from x and ends at its own time To.
func (c course) runAll(x *Node, w []*Node, os []Integration) legEnds {
	g, b := x.Graph(), c.Method.B
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
		w     []*Node
	}
	all := reads{Const(g, signed), x, w}
	return loop.Repeat(loop.Int(g, len(os)), start, all, func(l *Node, s legEnds, r reads) legEnds {
		end := c.run(l, entry(r.to, l), r.x, s.log, r.w)
		return legEnds{end.log, store(s.ends, end.y, l), put(s.counts, end.count, l),
			put(s.evaluations, end.evaluations, l), put(s.outcomes, end.outcome, l)}
	})
}

// walk is the loop state of an adaptive integration. The time t and the step size dt are in double precision. t runs
// from 0 to |To|. If To is negative, the field is evaluated at -t, with the step size -dt.
type walk struct {
	log
	t, dt *Node
	// x is the state at time t, and k is the slope at x, which is the value of the field there. y is the state at the
	// end time, once a step has reached or passed this time.
	x, k, y *Node
	// count is the number of accepted steps, not counting the step that reaches the end time. evaluations is the number
	// of evaluations of the field. outcome is the constant running until the integration has ended.
	count, evaluations, outcome *Node
	// scratch is working memory for a step.
	scratch *Node
}

// goal has the values that the loop of one adaptive integration reads but does not change. leg is the number of the
// leg, which is this integration. time is |To|, and sign is the sign of To, where To is the end time. w are the field's
// weights.
type goal struct {
	leg, time, sign *Node
	w               []*Node
}

// run computes the integration with the number leg, from the state x at time 0 to the time that the argument to gives.
// The argument first is the log of the legs before this one, and w are the field's weights. run returns the last state
// of its loop.
func (c course) run(leg, to, x *Node, first log, w []*Node) walk {
	g := x.Graph()
	sign := ConvertDType(Sign(to), x.DType())
	slope := c.field.Apply(loop.Float(x, 0), x, w)
	start := walk{log: first, t: loop.Const(g, 0.0), dt: c.firstStep(c.field, sign, x, slope, w),
		x: x, k: slope, y: loop.Zeros(x), count: loop.Int(g, 0), evaluations: loop.Int(g, 2),
		outcome: loop.Int(g, running), scratch: stack(x, len(c.Method.B))}
	end := loop.While(start, goal{leg, Abs(to), sign, w},
		func(s walk, _ goal) *Node { return Equal(s.outcome, loop.Int(s.outcome.Graph(), running)) }, c.try)
	end.weights = put(end.weights, c.Method.dense(x, fraction(Abs(to), end.t, end.dt)),
		Add(times(leg, c.most), end.count))
	return end
}

// try computes one step of an integration, from the loop state s. If the estimated error is small enough, try accepts
// the step. Otherwise it rejects the step, and the next call of try computes a smaller step from the same state.
func (c course) try(s walk, to goal) walk {
	g, m := s.x.Graph(), c.Method
	own := func(v *Node) *Node { return ConvertDType(v, s.x.DType()) }
	t, h := Mul(own(s.t), to.sign), Mul(own(s.dt), to.sign)
	// Every step stores the state with which it begins, but only the first step of a segment stores it as a checkpoint.
	// All other steps store it at the last of the leg's places in the stack kept, which is never read. If the first
	// step of a segment is rejected, the next try stores the same checkpoint again.
	place := Div(s.count, loop.Int(g, c.segment))
	begins := Equal(times(place, c.segment), s.count)
	s.kept = store(s.kept, s.x, Add(times(to.leg, c.places()), Where(begins, place, loop.Int(g, c.places()-1))))
	number := Add(times(to.leg, c.most), s.count)
	s.times, s.sizes = put(s.times, t, number), put(s.sizes, h, number)

	step := m.try(c.field, t, s.x, h, s.k, m.dense(s.x, fraction(to.time, s.t, s.dt)), s.scratch, to.w)
	ratio := Sqrt(meanSquare(Div(step.error, c.tolerance(Max(Abs(s.x), Abs(step.next))))))
	accepted := LessOrEqual(ratio, loop.Float(ratio, 1))
	next := Add(s.t, s.dt)
	done := LogicalAnd(accepted, GreaterOrEqual(next, to.time))
	moves := LogicalAnd(accepted, LogicalNot(done))

	s.y, s.scratch = step.dense, step.scratch
	s.x, s.k = loop.Select(moves, step.next, s.x), loop.Select(moves, step.slope, s.k)
	s.count = Add(s.count, ConvertDType(moves, dtypes.Int32))
	s.evaluations = plus(s.evaluations, len(m.B)-1)
	// The last step does not change t and dt. From the time t at which this step begins and from its size dt,
	// [course.run] computes where in this step the end time lies.
	s.t = Where(moves, next, s.t)
	s.dt = Where(done, s.dt, Mul(s.dt, ConvertDType(m.factor(ratio, accepted), dtypes.Float64)))
	s.outcome = Where(done, loop.Int(g, Reached), c.failure(s, ratio))
	return s
}

// failure returns the reason why an integration with the loop state s cannot go on, which is one of the outcomes. If
// the integration can go on, failure returns the constant running. The argument ratio is the error ratio of the last
// step (see the constant [safety]).
func (c course) failure(s walk, ratio *Node) *Node {
	g := s.x.Graph()
	next := plus(s.evaluations, len(c.Method.B)-1)
	outcome := loop.Int(g, running)
	outcome = Where(GreaterThan(next, loop.Int(g, c.MaxEvaluations)), loop.Int(g, TooManyEvaluations), outcome)
	outcome = Where(LessOrEqual(Add(s.t, s.dt), s.t), loop.Int(g, StepTooSmall), outcome)
	return Where(NotEqual(ratio, ratio), loop.Int(g, NotFinite), outcome)
}

// factor returns the number by which the step size is multiplied after a step. The argument ratio is the error ratio of
// this step, and accepted tells whether the step was accepted. The constant [safety] explains the error ratio, and has
// the formula.
func (m Method) factor(ratio, accepted *Node) *Node {
	least := Where(accepted, loop.Float(ratio, 1), loop.Float(ratio, shrink))
	power := Pow(ratio, loop.Float(ratio, 1/float64(m.Order)))
	factor := Min(loop.Float(ratio, grow), Max(Div(loop.Float(ratio, safety), power), least))
	return Where(Equal(ratio, loop.Float(ratio, 0)), loop.Float(ratio, grow), factor)
}

// fraction returns (end - t)/dt. This number says where the time called end lies in a step that begins at time t and
// has size dt: it is 0 at the beginning of the step, and 1 at its end.
func fraction(end, t, dt *Node) *Node { return Div(Sub(end, t), dt) }

// dense returns a vector with a weight b_i(θ) = Σ_p Dense[i][p] θ^(p+1) for each stage i of a step (see
// [Method].Dense). Here θ is the argument fraction, a number from 0 to 1. With these weights, the slopes k_i of a step
// of size h give a state inside the step: x(t + θ h) = x(t) + h Σ_i b_i(θ) k_i, where t is the time at which the step
// begins. Of the argument x, only the graph and the data type are used.
func (m Method) dense(x, fraction *Node) *Node {
	theta := ConvertDType(fraction, x.DType())
	table := func(p int) *Node {
		column := make([]float64, len(m.Dense))
		for i, c := range m.Dense {
			column[i] = c[p]
		}
		return vector(x, column)
	}
	// The polynomials b_i(θ) are computed by Horner's rule, for all stages i at once.
	b := table(3)
	for p := 2; p >= 0; p-- {
		b = Add(loop.Scale(b, theta), table(p))
	}
	return loop.Scale(b, theta)
}

func (o Integration) tolerance(size *Node) *Node {
	return Add(Mul(size, loop.Like(loop.Float(size, o.RelTol), size)), loop.Like(loop.Float(size, o.AbsTol), size))
}

// firstStep chooses the size of the first step in the same way as torchdiffeq (a PyTorch library for differential
// equations). It uses the size of the state, the size of the slope at this state, and the change of the slope in a
// small step (Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations I, section II.4).
func (o Integration) firstStep(f field, sign, x, slope *Node, w []*Node) *Node {
	order := float64(o.Method.Order)
	tolerance := o.tolerance(Abs(x))
	norm := func(v *Node) *Node { return Sqrt(meanSquare(Div(v, tolerance))) }
	c := func(v float64) *Node { return loop.Float(x, v) }
	d0, d1 := norm(x), norm(slope)
	tiny := LogicalOr(LessThan(d0, c(1e-5)), LessThan(d1, c(1e-5)))
	h0 := Where(tiny, c(1e-6), Div(Mul(c(0.01), d0), d1))
	h := Mul(h0, sign)
	moved := f.Apply(h, Add(x, loop.Scale(slope, h)), w)
	d2 := Div(norm(Sub(moved, slope)), h0)
	flat := LogicalAnd(LessOrEqual(d1, c(1e-15)), LessOrEqual(d2, c(1e-15)))
	h1 := Where(flat, Max(c(1e-6), Mul(h0, c(1e-3))), Pow(Div(c(0.01), Max(d1, d2)), c(1/order)))
	return ConvertDType(Min(Mul(c(100), h0), h1), dtypes.Float64)
}

// meanSquare returns a scalar: the mean of the squared entries of the matrix x. [loop.MeanAbs] computes it, since the
// absolute value of a square is the square itself.
func meanSquare(x *Node) *Node { return loop.MeanAbs(Mul(x, x)) }
