package solve

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// LinearField is a [Field] f(t, X; w) = M(w) X with a linear operator M that does not depend on time. A step of size h from
// x is then R(h M) x, by s products and without stages; R is the stability function of the method with s stages,
//
//	R(z) = Σ_k r_k z^k = 1 + Σ_k>0 (b^T A^(k-1) e) z^k,  k = 0 … s,
//
// for the vector of ones e (Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations II, section IV.2). Up to
// rounding, this is what the stages give.
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
// multiply(y, more) is M y; more is what it reads. each(i, y_i, sums, more) may add to sums for i = 0 … s-1, or is nil. The
// result has R(h M) x in the field x, and the sums in w.
func horner[R any](multiply func(y *Node, r R) *Node, degree, x, h, r *Node, sums []*Node, more R,
	each func(i, y *Node, sums []*Node, r R) []*Node) cotangents {
	type reads struct {
		degree, x, h, r *Node
		more            R
	}
	// As part of the loop state, M y_i-1 is computed as a whole before y_i. Otherwise XLA would compute both in one pass
	// over the entries, which it does not vectorise.
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

// tryLinear is [stepper.try] for a linear field: all results are weighted sums of the (h M)^k x, k = 1 … s, of which the
// first is h times the slope M x.
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
// M̄ is not stored: PullW computes the weights' cotangents for each term. scratch is memory for s states. If r_s is zero,
// s-1 takes the place of s.
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
