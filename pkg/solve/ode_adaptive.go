package solve

import (
	"math"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// The step-size control (Hairer, Nørsett and Wanner, section II.4), with torchdiffeq's constants: after a step of error
// ratio r, the size changes by the factor safety / r^(1/order), between shrink (1 after an accepted step) and grow.
const safety, shrink, grow = 0.9, 0.2, 10.0

// running is the outcome before there is one.
const running = -1

// walk is the state of an adaptive integration. Time runs from 0 to |To|, as double, whichever direction it stands for.
type walk struct {
	t, dt *Node
	// x is the state at t, k its slope, y the state at the end time once it has been passed.
	x, k, y *Node
	// count of accepted steps before the last one, evaluations of the field, and the outcome.
	count, evaluations, outcome *Node
	// times and sizes of accepted steps, in the direction of To, by their number.
	times, sizes *Node
	// kept are checkpoints; the last place takes what is not to be kept.
	kept *Node
	// scratch is what a step works in.
	scratch *Node
}

func (s walk) nodes() []*Node {
	return []*Node{s.t, s.dt, s.x, s.k, s.y, s.count, s.evaluations, s.outcome, s.times, s.sizes, s.kept, s.scratch}
}

func walkOf(n []*Node) walk {
	return walk{n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9], n[10], n[11]}
}

func integrateAdaptive(f Field, x *Node, w []*Node, o Integration) (*Node, *Stats) {
	g := x.Graph()
	m := o.Method
	most := max(1, (o.MaxEvaluations-2)/(len(m.B)-1)+1)
	segment := segmentOf(x, most)
	fixed := stopped(w)
	start := StopGradient(x)
	time := loop.Float(start, 0)
	slope := f.Apply(time, start, fixed)
	none := BroadcastToShape(loop.Float(x, 0), shapes.Make(x.DType(), most))
	first := walk{t: loop.Const(g, 0.0), dt: o.firstStep(f, start, slope, fixed), x: start, k: slope, y: loop.Zeros(start),
		count: loop.Int(g, 0), evaluations: loop.Int(g, 2), outcome: loop.Int(g, running), times: none, sizes: none,
		kept: stack(start, (most+segment-1)/segment+1), scratch: stack(start, len(m.B))}
	end := walkOf(loop.While(first.nodes(), fixed,
		func(s, _ []*Node) *Node { return Equal(walkOf(s).outcome, loop.Int(s[0].Graph(), running)) },
		func(s, w []*Node) []*Node { return o.try(f, walkOf(s), segment, w).nodes() }))

	ordinary := m.without()
	chain := ordinary.steps(f, segment)
	stats := NoStats(x)
	stats.Iterations, stats.Outcome = end.evaluations, end.outcome
	stats.AdjointIterations = Add(Mul(end.count, loop.Int(g, len(ordinary.B))), loop.Int(g, len(m.B)))
	y := Custom(end.y, append([]*Node{x}, w[:f.Trainable()]...), func(v *Node) []*Node {
		t, h := ConvertDType(end.t, x.DType()), ConvertDType(end.dt, x.DType())
		sign := loop.Float(x, math.Copysign(1, o.To))
		t, h = Mul(t, sign), Mul(h, sign)
		weights := m.dense(x, o.fraction(end.t, end.dt))
		var last []*Node
		if linear, ok := f.(LinearField); ok {
			last, _ = m.pullLinear(linear, weights, end.x, h, v, []*Node{stack(x, len(m.B))}, fixed)
		} else {
			last = m.pull(f, weights, t, end.x, h, v, fixed)
		}
		return chain.back(only(v, end.count), end.kept, last, append(append([]*Node{}, fixed...), end.times, end.sizes))
	})
	return y, stats
}

// try makes one step and accepts or rejects it.
func (o Integration) try(f Field, s walk, segment int, w []*Node) walk {
	g, m := s.x.Graph(), o.Method
	own := func(v *Node) *Node { return ConvertDType(v, s.x.DType()) }
	sign := loop.Float(s.x, math.Copysign(1, o.To))
	t, h := Mul(own(s.t), sign), Mul(own(s.dt), sign)
	// The checkpoint of a segment is written before its first step, again if that is rejected.
	places := s.kept.Shape().Dimensions[0]
	place := Div(s.count, loop.Int(g, segment))
	begins := Equal(Mul(place, loop.Int(g, segment)), s.count)
	s.kept = store(s.kept, s.x, Where(begins, place, loop.Int(g, places-1)))
	here := Equal(Iota(g, shapes.Make(dtypes.Int32, s.times.Shape().Dimensions[0]), 0), loop.Like(s.count, s.times))
	s.times, s.sizes = Where(here, loop.Like(t, s.times), s.times), Where(here, loop.Like(h, s.sizes), s.sizes)

	step := m.try(f, t, s.x, h, s.k, m.dense(s.x, o.fraction(s.t, s.dt)), s.scratch, w)
	x := step.next
	ratio := meanSquare(Div(step.error, o.tolerance(Max(Abs(s.x), Abs(x)))))
	ratio = Sqrt(ratio)
	accepted := LessOrEqual(ratio, loop.Float(ratio, 1))
	next := Add(s.t, s.dt)
	done := LogicalAnd(accepted, GreaterOrEqual(next, loop.Const(g, math.Abs(o.To))))
	moves := LogicalAnd(accepted, LogicalNot(done))

	s.y, s.scratch = step.dense, step.scratch
	s.x, s.k = loop.Select(moves, x, s.x), loop.Select(moves, step.slope, s.k)
	s.count = Add(s.count, ConvertDType(moves, dtypes.Int32))
	s.evaluations = Add(s.evaluations, loop.Int(g, len(m.B)-1))
	// The last step's time and size stay, for the backward pass.
	s.t = Where(moves, next, s.t)
	s.dt = Where(done, s.dt, Mul(s.dt, ConvertDType(m.factor(ratio, accepted), dtypes.Float64)))

	outcome := Where(GreaterThan(Add(s.evaluations, loop.Int(g, len(m.B)-1)), loop.Int(g, o.MaxEvaluations)), loop.Int(g, TooManyEvaluations), loop.Int(g, running))
	outcome = Where(LessOrEqual(Add(s.t, s.dt), s.t), loop.Int(g, StepTooSmall), outcome)
	outcome = Where(NotEqual(ratio, ratio), loop.Int(g, NotFinite), outcome)
	s.outcome = Where(done, loop.Int(g, Reached), outcome)
	return s
}

// factor is by how much the step size changes.
func (m Method) factor(ratio, accepted *Node) *Node {
	least := Where(accepted, loop.Float(ratio, 1), loop.Float(ratio, shrink))
	power := Pow(ratio, loop.Float(ratio, 1/float64(m.Order)))
	factor := Min(loop.Float(ratio, grow), Max(Div(loop.Float(ratio, safety), power), least))
	return Where(Equal(ratio, loop.Float(ratio, 0)), loop.Float(ratio, grow), factor)
}

// fraction is where the end time lies in the step of size dt from t: between 0 and 1 if it does.
func (o Integration) fraction(t, dt *Node) *Node {
	return Div(Sub(loop.Const(t.Graph(), math.Abs(o.To)), t), dt)
}

// dense are the weights b_i(θ) of the stages for the state at a fraction θ of a step.
func (m Method) dense(x, fraction *Node) *Node {
	theta := ConvertDType(fraction, x.DType())
	table := func(p int) *Node {
		column := make([]float64, len(m.Dense))
		for i, c := range m.Dense {
			column[i] = c[p]
		}
		return vector(x, column)
	}
	// Horner's rule.
	b := table(3)
	for p := 2; p >= 0; p-- {
		b = Add(loop.Scale(b, theta), table(p))
	}
	return loop.Scale(b, theta)
}

func (o Integration) tolerance(size *Node) *Node {
	return Add(Mul(size, loop.Like(loop.Float(size, o.RelTol), size)), loop.Like(loop.Float(size, o.AbsTol), size))
}

// firstStep guesses a first step size from the sizes of the state, its slope and the slope's change (Hairer, Nørsett and
// Wanner, section II.4), as torchdiffeq does.
func (o Integration) firstStep(f Field, x, slope *Node, w []*Node) *Node {
	order := float64(o.Method.Order)
	tolerance := o.tolerance(Abs(x))
	norm := func(v *Node) *Node { return Sqrt(meanSquare(Div(v, tolerance))) }
	c := func(v float64) *Node { return loop.Float(x, v) }
	d0, d1 := norm(x), norm(slope)
	tiny := LogicalOr(LessThan(d0, c(1e-5)), LessThan(d1, c(1e-5)))
	h0 := Where(tiny, c(1e-6), Div(Mul(c(0.01), d0), d1))
	h := Mul(h0, c(math.Copysign(1, o.To)))
	moved := f.Apply(h, Add(x, loop.Scale(slope, h)), w)
	d2 := Div(norm(Sub(moved, slope)), h0)
	flat := LogicalAnd(LessOrEqual(d1, c(1e-15)), LessOrEqual(d2, c(1e-15)))
	h1 := Where(flat, Max(c(1e-6), Mul(h0, c(1e-3))), Pow(Div(c(0.01), Max(d1, d2)), c(1/order)))
	return ConvertDType(Min(Mul(c(100), h0), h1), dtypes.Float64)
}

// meanSquare of a matrix, a scalar.
func meanSquare(x *Node) *Node { return loop.MeanAbs(Mul(x, x)) }
