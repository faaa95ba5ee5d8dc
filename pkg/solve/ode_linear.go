package solve

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// stepper computes single steps. The stages are computed in a loop, so that the field is compiled once. A stack
// [stages, n, d] has the slopes.
type stepper[W any] struct {
	Method
	integration[W]
}

// slopes stores the slopes k_0 … k_count-1 of a step from the state x at time t in the stack k. first is k_0, or nil.
func (m stepper[W]) slopes(count, t, x, h, first, k *Node, w W) *Node {
	from := 0
	if first != nil {
		from, k = 1, store(k, first, loop.Int(x.Graph(), 0))
	}
	type reads struct {
		t, x, h *Node
		w       W
	}
	return loop.Repeat(plus(count, -from), k, reads{t, x, h, w}, func(i, k *Node, r reads) *Node {
		i = plus(i, from)
		time, u := m.stage(i, r.t, r.x, r.h, k)
		return store(k, m.field.Apply(time, u, r.w), i)
	})
}

// trial is a step of an adaptive method: the next state and its slope, the estimated error, a state inside the step,
// and the working memory again.
type trial struct{ next, slope, error, dense, scratch *Node }

// try computes a step from the state x, whose slope is given, at time t. dense has the stages' weights of the state
// inside it ([Method.dense]). scratch is memory for a state per stage.
func (m stepper[W]) try(t, x, h, slope, dense, scratch *Node, w W) trial {
	if m.linear {
		return m.tryLinear(x, h, slope, dense, scratch, w)
	}
	k := m.slopes(loop.Int(x.Graph(), len(m.B)), t, x, h, slope, scratch, w)
	return trial{
		next:    combine(x, k, h, vector(x, m.B)),
		error:   combine(nil, k, h, vector(x, m.Error)),
		dense:   combine(x, k, h, dense),
		slope:   element(k, len(m.B)-1),
		scratch: k,
	}
}

// stage is the time t + C_i h and the state x + h Σ_j A_ij k_j at which stage i evaluates the field.
func (m Method) stage(i, t, x, h, k *Node) (time, u *Node) {
	return Add(t, Mul(entry(vector(x, m.C), i), h)), combine(x, k, h, pick(vector(x, flat(m.A)), i, len(m.B)))
}

// grid has the times and sizes of steps, and the weights of their stages, row by row: B but in the last step of an
// adaptive integration, whose end lies inside it.
type grid struct{ times, sizes, weights *Node }

// reads is what steps read. For a [LinearField], grid.weights are the coefficients of R.
type reads[W any] struct {
	w    W
	grid grid
}

func (m stepper[W]) reads(w W, g grid) reads[W] {
	if m.linear {
		g.weights = m.stability(g.weights)
	}
	return reads[W]{w, g}
}

// step is the time of step i, its size, and its weights.
func (g grid) step(i *Node) (t, h, b *Node) {
	return entry(g.times, i), entry(g.sizes, i), pick(g.weights, i, g.weights.Shape().Dimensions[1])
}

// steps computes and differentiates the steps of a [grid], with so many from one checkpoint to the next.
func (m stepper[W]) steps(segment int) steps[reads[W]] {
	s := steps[reads[W]]{segment: segment, weights: m.known}
	whole := stepper[W]{m.without(), m.integration}
	if m.linear {
		s.advance = func(i, x *Node, r reads[W]) *Node {
			_, h, _ := r.grid.step(i)
			return whole.advanceLinear(x, h, r.w)
		}
		s.scratch = func(x *Node) *Node { return stack(x, len(m.B)) }
		s.pull = func(i, x, v, scratch *Node, r reads[W]) (cotangents, *Node) {
			_, h, b := r.grid.step(i)
			return m.pullLinear(b, x, h, v, scratch, r.w)
		}
		return s
	}
	s.advance = func(i, x *Node, r reads[W]) *Node {
		t, h, _ := r.grid.step(i)
		k := whole.slopes(loop.Int(x.Graph(), len(whole.B)), t, x, h, nil, stack(x, len(whole.B)), r.w)
		return combine(x, k, h, vector(x, whole.B))
	}
	s.pull = func(i, x, v, _ *Node, r reads[W]) (cotangents, *Node) {
		t, h, b := r.grid.step(i)
		return m.pull(b, t, x, h, v, r.w), nil
	}
	return s
}

// needed is the number of stages that a step with the weights b depends on: the last one only if its weight is not
// zero.
func needed(b *Node) *Node {
	s := b.Shape().Size()
	last := element(b, s-1)
	return Where(Equal(last, loop.Float(last, 0)), loop.Int(b.Graph(), s-1), loop.Int(b.Graph(), s))
}

// pull is the vector-Jacobian product of the step x + h Σ_i b_i k_i. Stage i evaluates the field at u_i; a bar marks
// cotangents, and v is that of the result:
//
//	k̄_i = h b_i v + h Σ_j>i A_ji ū_j,  ū_i = (∂f/∂x)^T k̄_i,  x̄ = v + Σ_i ū_i.
func (m stepper[W]) pull(b, t, x, h, v *Node, w W) cotangents {
	s := len(m.B)
	transposed := make([]float64, s*s)
	for i, row := range m.A {
		for j, a := range row {
			transposed[j*s+i] = a
		}
	}
	type state struct {
		grads  cotangents
		points *Node // a stack of the cotangents ū_i
	}
	type reads struct {
		stages, b, t, x, h, v, k *Node
		w                        W
	}
	stages := needed(b)
	// No state depends on the slope of the last stage.
	k := m.slopes(plus(stages, -1), t, x, h, nil, stack(x, s), w)
	start := state{cotangents{v, zeros(trainableOf(m.known, w))}, stack(x, s)}
	return loop.Repeat(stages, start, reads{stages, b, t, x, h, v, k, w}, func(n *Node, st state, r reads) state {
		i := Sub(plus(r.stages, -1), n)
		time, u := m.stage(i, r.t, r.x, r.h, r.k)
		tape := m.field.Linearize(time, u, r.w)
		slope := combine(loop.Scale(r.v, Mul(r.h, entry(r.b, i))), st.points, r.h, pick(vector(r.x, transposed), i, s))
		point := m.field.PullX(slope, tape, r.w)
		dw := cotangentsOf(m.known, m.field.PullW(slope, tape, r.w), r.w)
		grads := cotangents{Add(st.grads.x, point), m.known.add(st.grads.w, dw, i)}
		return state{grads, store(st.points, point, i)}
	}).grads
}

// combine is x + h Σ_j c_j k_j for a stack k and a vector c, without x if this is nil.
func combine(x, k, h, c *Node) *Node { return sum(x, k, loop.Scale(c, h)) }

// sum is x + Σ_j c_j k_j for a stack k and a vector c, without x if this is nil.
func sum(x, k, c *Node) *Node {
	for j := range k.Shape().Dimensions[0] {
		x = loop.Accumulate(x, loop.Scale(element(k, j), element(c, j)))
	}
	return x
}

func flat(rows [][]float64) (out []float64) {
	for _, r := range rows {
		out = append(out, r...)
	}
	return out
}

// LinearField is a [Field] f(t, X; w) = M(w) X with a linear operator M that does not depend on time. A step of size h
// from x is then R(h M) x, by s products and without stages; R is the stability function of the method with s stages,
//
//	R(z) = Σ_k r_k z^k = 1 + Σ_k>0 (b^T A^(k-1) e) z^k,  k = 0 … s,
//
// for the vector of ones e (Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations II, section IV.2). Up
// to rounding, this is what the stages give.
type LinearField[W any] interface {
	Field[W]
	// Linear does nothing, but tells that the field is linear.
	Linear()
}

// stability are the coefficients r_0 … r_s for stages' weights b, row by row.
func (m Method) stability(b *Node) *Node {
	rows, s := b.Shape().Dimensions[0], len(m.A)
	// powers[i][k], for k > 0, is entry i of A^(k-1) e.
	powers := make([][]float64, s)
	for i := range powers {
		powers[i] = make([]float64, s+1)
		powers[i][1] = 1
		for k := 2; k <= s; k++ {
			for j, a := range m.A[i][:i] {
				powers[i][k] += a * powers[j][k-1]
			}
		}
	}
	table := Reshape(vector(b, flat(powers)), s, s+1)
	one := make([]float64, s+1)
	one[0] = 1
	return Add(BroadcastToDims(Reshape(vector(b, one), 1, s+1), rows, s+1), Dot(b, table).Product())
}

// row is a vector as a matrix with a single row.
func row(v *Node) *Node { return Reshape(v, 1, v.Shape().Size()) }

// hornerState has y_i, my = M y_i-1, and the sums of [horner] so far.
type hornerState struct {
	y, my *Node
	sums  []*Node
}

// horner computes R(h M) x, with r_0 … r_s in the vector r and s = degree, an int32 scalar, by
//
//	y_0 = r_s x,  y_i = r_s-i x + h M y_i-1,  R(h M) x = y_s.
//
// multiply(y, more) is M y; more is what it reads. each(i, y_i, sums, more) may add to sums for i = 0 … s-1, or is nil.
// The result has R(h M) x in the field x, and the sums in w.
func horner[R any](multiply func(y *Node, r R) *Node, degree, x, h, r *Node, sums []*Node, more R,
	each func(i, y *Node, sums []*Node, r R) []*Node) cotangents {
	type reads struct {
		degree, x, h, r *Node
		more            R
	}
	// As part of the loop state, M y_i-1 is computed as a whole before y_i. Otherwise XLA would compute both in one
	// pass over the entries, which it does not vectorise.
	next := func(power, my *Node, rd reads) *Node {
		return Add(loop.Scale(rd.x, entry(rd.r, power)), loop.Scale(my, rd.h))
	}
	all := reads{degree, x, h, r, more}
	start := hornerState{loop.Scale(x, entry(r, degree)), loop.Zeros(x), sums}
	out := loop.Repeat(degree, start, all, func(i *Node, s hornerState, rd reads) hornerState {
		my := multiply(s.y, rd.more)
		y := next(Sub(plus(rd.degree, -1), i), my, rd)
		if each != nil {
			s.sums = each(i, s.y, s.sums, rd.more)
		}
		// [loop.After] makes y depend on an entry of each sum, so that XLA computes them, which read s.y, before y, and
		// writes y over s.y without a copy.
		for _, sum := range s.sums {
			some := Reshape(Slice(Reshape(sum, sum.Shape().Size()), AxisElem(0)))
			y = loop.After(Abs(some), y)
		}
		return hornerState{y, my, s.sums}
	})
	return cotangents{next(loop.Int(x.Graph(), 0), out.my, all), out.sums}
}

// advanceLinear is R(h M) x.
func (m stepper[W]) advanceLinear(x, h *Node, w W) *Node {
	multiply := func(y *Node, w W) *Node { return m.field.Apply(loop.Float(y, 0), y, w) }
	r := Reshape(m.stability(row(vector(x, m.B))), len(m.B)+1)
	return horner(multiply, loop.Int(x.Graph(), len(m.B)), x, h, r, nil, w, nil).x
}

// powers stores x, h M x, (h M)^2 x, … in the stack, count of them.
func (m stepper[W]) powers(count, x, h, stack *Node, w W) *Node {
	type state struct{ power, stack *Node }
	type reads struct {
		h *Node
		w W
	}
	start := state{x, store(stack, x, loop.Int(x.Graph(), 0))}
	return loop.Repeat(plus(count, -1), start, reads{h, w}, func(i *Node, s state, r reads) state {
		next := loop.Scale(m.field.Apply(loop.Float(r.h, 0), s.power, r.w), r.h)
		return state{next, store(s.stack, next, plus(i, 1))}
	}).stack
}

// tryLinear is [stepper.try] for a linear field: all results are weighted sums of the (h M)^k x, k = 1 … s, of which
// the first is h times the slope M x.
func (m stepper[W]) tryLinear(x, h, slope, dense, scratch *Node, w W) trial {
	s := len(m.B)
	all := m.powers(loop.Int(x.Graph(), s), loop.Scale(slope, h), h, scratch, w)
	r, e := m.stability(row(vector(x, m.B))), m.stability(row(vector(x, m.Error)))
	from := func(c *Node, first int) *Node { return Reshape(Slice(c, AxisRange(), AxisRange(first, first+s)), s) }
	return trial{
		next:    sum(x, all, from(r, 1)),
		error:   sum(nil, all, from(e, 1)),
		dense:   sum(x, all, from(m.stability(row(dense)), 1)),
		slope:   loop.Scale(sum(nil, all, from(r, 0)), Div(loop.Float(h, 1), h)),
		scratch: all,
	}
}

// pullLinear is the vector-Jacobian product of a step R(h M) x, with the coefficients r. Given the cotangent v of its
// result, it returns those of x, R(h M)^T v, and of the weights:
//
//	y_0 = r_s v,  y_i = r_s-i v + h M^T y_i-1,  x̄ = y_s,
//	M̄ = h Σ_i y_i ((h M)^(s-1-i) x)^T,  i = 0 … s-1.
//
// M̄ is not stored: PullW computes the weights' cotangents for each term. scratch is memory for s states. If r_s is
// zero, s-1 takes the place of s.
func (m stepper[W]) pullLinear(r, x, h, v, scratch *Node, w W) (grads cotangents, scratchAfter *Node) {
	type reads struct {
		stages, powers, h *Node
		w                 W
	}
	stages := plus(needed(r), -1)
	all := reads{stages, m.powers(stages, x, h, scratch, w), h, w}
	transposed := func(y *Node, rd reads) *Node {
		return m.field.PullX(y, m.field.Linearize(loop.Float(y, 0), y, rd.w), rd.w)
	}
	weights := func(i, y *Node, sums []*Node, rd reads) []*Node {
		tape := m.field.Linearize(loop.Float(rd.h, 0), load(rd.powers, Sub(plus(rd.stages, -1), i)), rd.w)
		for p, dw := range cotangentsOf(m.known, m.field.PullW(y, tape, rd.w), rd.w) {
			sums[p] = Add(sums[p], loop.Scale(dw, rd.h))
		}
		return sums
	}
	return horner(transposed, stages, v, h, r, zeros(trainableOf(m.known, w)), all, weights), all.powers
}
