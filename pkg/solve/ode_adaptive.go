package solve

import (
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

// integrateAdaptive integrates from x with settings that differ in nothing but To, in one loop, so that the field is compiled once.
func integrateAdaptive(f Field, x *Node, w []*Node, os []Integration) (ends []*Node, stats []*Stats) {
	g, o, legCount := x.Graph(), os[0], len(os)
	m := o.Method
	stages := len(m.B)
	most := max(1, (o.MaxEvaluations-2)/(stages-1)+1)
	c := course{o, f, segmentOf(x, most), most}
	fixed := stopped(w)
	start := StopGradient(x)
	signed := make([]float64, legCount)
	for l, o := range os {
		signed[l] = o.To
	}
	none := vector(x, make([]float64, most*legCount))
	numbers := Const(g, make([]int32, legCount))
	first := log{grid{none, none, BroadcastToDims(row(vector(x, m.B)), most*legCount, stages)}, stack(start, c.places()*legCount)}
	out := loop.Repeat(loop.Int(g, legCount), append(first.nodes(), stack(start, legCount), numbers, numbers, numbers),
		append([]*Node{Const(g, signed), start}, fixed...), func(l *Node, state, reads []*Node) []*Node {
			end := c.run(l, Reshape(pick(reads[0], l, 1)), reads[1], logOf(state), reads[2:])
			rest := state[len(logOf(state).nodes()):]
			return append(end.log.nodes(), store(rest[0], end.y, l), put(rest[1], end.count, l), put(rest[2], end.evaluations, l), put(rest[3], end.outcome, l))
		})
	done := logOf(out)
	rest := out[len(done.nodes()):]
	counts, evaluations, outcomes := rest[1], rest[2], rest[3]
	y := Custom(rest[0], append([]*Node{x}, w[:f.Trainable()]...), func(v *Node) []*Node {
		firsts, keeps := make([]int32, legCount), make([]int32, legCount)
		for l := range os {
			firsts[l], keeps[l] = int32(l*most), int32(l*c.places())
		}
		all := legs{Const(g, firsts), Add(counts, loop.Like(loop.Int(g, 1), counts)), Const(g, keeps)}
		return m.steps(f, c.segment).back(all, v, done.kept, m.weighed(f, fixed, done.grid))
	})
	for l := range os {
		s := NoStats(x)
		s.Iterations, s.Outcome = element(evaluations, l), element(outcomes, l)
		s.AdjointIterations = plus(times(element(counts, l), m.stages()), stages)
		ends, stats = append(ends, element(y, l)), append(stats, s)
	}
	return ends, stats
}

// course is what is known of adaptive integrations when they are compiled; most is the most steps that one takes.
type course struct {
	Integration
	field         Field
	segment, most int
}

// places is the number of checkpoints of a leg; the last place takes what is not to be kept.
func (c course) places() int { return (c.most+c.segment-1)/c.segment + 1 }

// log is what the steps of all legs leave: their grid, in the direction of To, and checkpoints.
type log struct {
	grid
	kept *Node
}

func (l log) nodes() []*Node  { return []*Node{l.times, l.sizes, l.weights, l.kept} }
func logOf(nodes []*Node) log { return log{grid{nodes[0], nodes[1], nodes[2]}, nodes[3]} }

// walk is the state of an adaptive integration. Time runs from 0 to |To|, as double, whichever direction it stands for.
type walk struct {
	log
	t, dt *Node
	// x is the state at t, k its slope, y the state at the end time once it has been passed.
	x, k, y *Node
	// count of accepted steps before the last one, evaluations of the field, and the outcome.
	count, evaluations, outcome *Node
	// scratch is what a step works in.
	scratch *Node
}

func (s walk) nodes() []*Node {
	return append(s.log.nodes(), s.t, s.dt, s.x, s.k, s.y, s.count, s.evaluations, s.outcome, s.scratch)
}

func walkOf(nodes []*Node) walk {
	n := nodes[4:]
	return walk{logOf(nodes), n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8]}
}

// run integrates from x to time to, leg number leg.
func (c course) run(leg, to, x *Node, first log, w []*Node) walk {
	g := x.Graph()
	sign := ConvertDType(Sign(to), x.DType())
	slope := c.field.Apply(loop.Float(x, 0), x, w)
	start := walk{log: first, t: loop.Const(g, 0.0), dt: c.firstStep(c.field, sign, x, slope, w), x: x, k: slope, y: loop.Zeros(x),
		count: loop.Int(g, 0), evaluations: loop.Int(g, 2), outcome: loop.Int(g, running), scratch: stack(x, len(c.Method.B))}
	end := walkOf(loop.While(start.nodes(), append([]*Node{leg, Abs(to), sign}, w...),
		func(s, _ []*Node) *Node { return Equal(walkOf(s).outcome, loop.Int(s[0].Graph(), running)) },
		func(s, reads []*Node) []*Node {
			return c.try(walkOf(s), reads[0], reads[1], reads[2], reads[3:]).nodes()
		}))
	end.weights = put(end.weights, c.Method.dense(x, fraction(Abs(to), end.t, end.dt)), Add(times(leg, c.most), end.count))
	return end
}

// try makes one step towards the time goal, in the direction sign, and accepts or rejects it.
func (c course) try(s walk, leg, goal, sign *Node, w []*Node) walk {
	g, m := s.x.Graph(), c.Method
	own := func(v *Node) *Node { return ConvertDType(v, s.x.DType()) }
	t, h := Mul(own(s.t), sign), Mul(own(s.dt), sign)
	// The checkpoint of a segment is written before its first step, again if that is rejected.
	place := Div(s.count, loop.Int(g, c.segment))
	begins := Equal(times(place, c.segment), s.count)
	s.kept = store(s.kept, s.x, Add(times(leg, c.places()), Where(begins, place, loop.Int(g, c.places()-1))))
	number := Add(times(leg, c.most), s.count)
	s.times, s.sizes = put(s.times, t, number), put(s.sizes, h, number)

	step := m.try(c.field, t, s.x, h, s.k, m.dense(s.x, fraction(goal, s.t, s.dt)), s.scratch, w)
	x := step.next
	ratio := meanSquare(Div(step.error, c.tolerance(Max(Abs(s.x), Abs(x)))))
	ratio = Sqrt(ratio)
	accepted := LessOrEqual(ratio, loop.Float(ratio, 1))
	next := Add(s.t, s.dt)
	done := LogicalAnd(accepted, GreaterOrEqual(next, goal))
	moves := LogicalAnd(accepted, LogicalNot(done))

	s.y, s.scratch = step.dense, step.scratch
	s.x, s.k = loop.Select(moves, x, s.x), loop.Select(moves, step.slope, s.k)
	s.count = Add(s.count, ConvertDType(moves, dtypes.Int32))
	s.evaluations = plus(s.evaluations, len(m.B)-1)
	// The last step's time and size stay, for the backward pass.
	s.t = Where(moves, next, s.t)
	s.dt = Where(done, s.dt, Mul(s.dt, ConvertDType(m.factor(ratio, accepted), dtypes.Float64)))

	outcome := Where(GreaterThan(plus(s.evaluations, len(m.B)-1), loop.Int(g, c.MaxEvaluations)), loop.Int(g, TooManyEvaluations), loop.Int(g, running))
	outcome = Where(LessOrEqual(Add(s.t, s.dt), s.t), loop.Int(g, StepTooSmall), outcome)
	outcome = Where(NotEqual(ratio, ratio), loop.Int(g, NotFinite), outcome)
	s.outcome = Where(done, loop.Int(g, Reached), outcome)
	return s
}

// put replaces row i of a table by value.
func put(table, value, i *Node) *Node {
	dims := table.Shape().Dimensions
	here := Equal(Iota(table.Graph(), shapes.Make(dtypes.Int32, dims...), 0), BroadcastToDims(i, dims...))
	if len(dims) > 1 {
		value = Reshape(value, append([]int{1}, dims[1:]...)...)
	}
	return Where(here, BroadcastToDims(value, dims...), table)
}

// factor is by how much the step size changes.
func (m Method) factor(ratio, accepted *Node) *Node {
	least := Where(accepted, loop.Float(ratio, 1), loop.Float(ratio, shrink))
	power := Pow(ratio, loop.Float(ratio, 1/float64(m.Order)))
	factor := Min(loop.Float(ratio, grow), Max(Div(loop.Float(ratio, safety), power), least))
	return Where(Equal(ratio, loop.Float(ratio, 0)), loop.Float(ratio, grow), factor)
}

// fraction is where the time end lies in the step of size dt from t: between 0 and 1 if it does.
func fraction(end, t, dt *Node) *Node { return Div(Sub(end, t), dt) }

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
func (o Integration) firstStep(f Field, sign, x, slope *Node, w []*Node) *Node {
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

// meanSquare of a matrix, a scalar.
func meanSquare(x *Node) *Node { return loop.MeanAbs(Mul(x, x)) }
