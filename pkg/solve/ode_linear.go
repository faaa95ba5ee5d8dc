package solve

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// LinearField is a [Field] f(t, X; w) = M(w) X, where M is a linear operator on the state. M depends on the weights w,
// but not on time.
//
// For such a field, a step is computed without its stages. Let h be the size of the step, x the state before it, s the
// number of stages, and A and b the coefficients A and B in [Method]. The state after the step is R(h M) x. The
// polynomial R is called the method's stability function:
//
//	R(z) = Σ_k r_k z^k = 1 + Σ_k>0 (b^T A^(k-1) e) z^k,  k = 0 … s,
//
// where e is the vector of ones (Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations II, section IV.2).
// Horner's rule computes y_s = R(h M) x by
//
//	y_0 = r_s x,  y_k = r_s-k x + h M y_k-1.
//
// Up to rounding, the result is the same as if the stages were computed.
type LinearField[W any] interface {
	Field[W]
	// Linear does nothing. A field that has this method is taken to be linear.
	Linear()
}

type linearField interface {
	field
	Linear()
}

// stability returns the coefficients r_0 … r_s of stability functions (see [LinearField]). Each row of the matrix b has
// the weights of the stages of one step. The same row of the result has the coefficients for this step.
func (m Method) stability(b *Node) *Node {
	rows, s := b.Shape().Dimensions[0], len(m.A)
	// powers[i][k], for k > 0, is entry i of the vector A^(k-1) e, where e is the vector of ones. So r_k is the sum of
	// b_i powers[i][k] over i.
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

// row reshapes a vector to a matrix with a single row.
func row(v *Node) *Node { return Reshape(v, 1, v.Shape().Size()) }

// hornerState is the state of the loop in [horner].
type hornerState struct {
	// y is the y_i of the formulas in [horner]. my is the product M y_i-1, from which y_i was computed. sums has the
	// values of horner's sums so far.
	y, my *Node
	sums  []*Node
}

// horner computes R(h M) x by Horner's rule. R is a polynomial of degree s with the coefficients r_0 … r_s, M is a
// linear operator, and h is a number, the size of a step (see [LinearField]). The computation is
//
//	y_0 = r_s x,  y_i = r_s-i x + h M y_i-1,  R(h M) x = y_s.
//
// The argument degree is s, an int32 scalar, and entry i of the vector r is r_i. The function multiply(y, more) returns
// M y. The argument more has the other values that multiply reads, such as weights.
//
// The caller can also sum up arrays that are computed from y_0 … y_s-1, such as the cotangents of the weights (see
// [pullLinear]). The argument sums lists the initial values of these sums. For i = 0, 1, …, s-1, horner calls the
// function each(i, y_i, sums, more), which returns the new sums. If the argument each is nil, the sums do not change.
//
// The result of horner has R(h M) x in the field x, and the final sums in the field w.
func horner[R any](multiply func(y *Node, r R) *Node, degree, x, h, r *Node, sums []*Node, more R,
	each func(i, y *Node, sums []*Node, r R) []*Node) cotangents {
	type reads struct {
		degree, x, h, r *Node
		more            R
	}
	// The loop state contains not only y_i, but also the product M y_i-1, from which y_i is computed. So XLA computes
	// the whole product before y_i. Otherwise XLA would compute both in one pass over the entries of the arrays. Such a
	// pass is slow, since XLA does not vectorise it. After the loop, y_s is computed from the last product.
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
		// XLA can write the new y over the old one, which is s.y, if all computations that read s.y come before.
		// Otherwise XLA first copies s.y, which takes time. The sums are computed from s.y. Here [loop.After] makes y
		// depend on one entry of each sum, so that XLA computes the sums before y.
		for _, sum := range s.sums {
			some := Reshape(Slice(Reshape(sum, sum.Shape().Size()), AxisElem(0)))
			y = loop.After(Abs(some), y)
		}
		return hornerState{y, my, s.sums}
	})
	return cotangents{next(loop.Int(x.Graph(), 0), out.my, all), out.sums}
}

// advanceLinear computes a step of size h from the state x, for a linear field. It returns R(h M) x (see
// [LinearField]).
func (m Method) advanceLinear(f linearField, x, h *Node, w []*Node) *Node {
	multiply := func(y *Node, w []*Node) *Node { return f.Apply(loop.Float(y, 0), y, w) }
	r := Reshape(m.stability(row(vector(x, m.B))), len(m.B)+1)
	return horner(multiply, loop.Int(x.Graph(), len(m.B)), x, h, r, nil, w, nil).x
}

// powers stores x, h M x, (h M)^2 x, and so on in the stack, and returns the stack. The argument count is the number of
// these values. M is the operator of the field f.
func powers(f linearField, count, x, h, stack *Node, w []*Node) *Node {
	type state struct{ power, stack *Node }
	type reads struct {
		h *Node
		w []*Node
	}
	start := state{x, store(stack, x, loop.Int(x.Graph(), 0))}
	return loop.Repeat(plus(count, -1), start, reads{h, w}, func(i *Node, s state, r reads) state {
		next := loop.Scale(f.Apply(loop.Float(r.h, 0), s.power, r.w), r.h)
		return state{next, store(s.stack, next, plus(i, 1))}
	}).stack
}

// tryLinear is [Method.try] for a linear field with the operator M. It first computes the arrays (h M)^k x for
// k = 1 … s, where s is the number of stages. For k = 1, the array is h times the argument slope, because slope equals
// M x. The state after the step is x plus a weighted sum of these arrays. The state inside the step is x plus another
// weighted sum of them. The error is a weighted sum of the arrays, and the slope after the step is a weighted sum
// divided by h.
func (m Method) tryLinear(f linearField, x, h, slope, dense, scratch *Node, w []*Node) trial {
	s := len(m.B)
	all := powers(f, loop.Int(x.Graph(), s), loop.Scale(slope, h), h, scratch, w)
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

// pullLinear is the vector-Jacobian product of a step R(h M) x. M is the operator of the field, and the polynomial R
// has the coefficients r_0 … r_s in the vector r (see [LinearField]). Given the cotangent v of the step's result,
// pullLinear returns the cotangent x̄ of x, and the cotangents of the trainable weights.
//
// The cotangent of x is x̄ = R(h M)^T v. It is computed by Horner's rule ([horner]), with M^T in place of M:
//
//	y_0 = r_s v,  y_i = r_s-i v + h M^T y_i-1,  x̄ = y_s.
//
// The values y_i also give the cotangent M̄ of M (here x and y_i are written as vectors):
//
//	M̄ = h Σ_i y_i ((h M)^(s-1-i) x)^T,  i = 0 … s-1.
//
// M̄ itself is not stored. For each term of the sum, the field's method PullW computes the cotangents of the weights,
// and these cotangents are added up. The argument scratch is working memory for s states. If r_s is zero, s-1 takes the
// place of s in all formulas.
func pullLinear(f linearField, r, x, h, v, scratch *Node, w []*Node) (grads cotangents, scratchAfter *Node) {
	type reads struct {
		stages, powers, h *Node
		w                 []*Node
	}
	stages := plus(needed(r), -1)
	all := reads{stages, powers(f, stages, x, h, scratch, w), h, w}
	transposed := func(y *Node, rd reads) *Node {
		return f.PullX(y, f.Linearize(loop.Float(y, 0), y, rd.w), rd.w)
	}
	weights := func(i, y *Node, sums []*Node, rd reads) []*Node {
		tape := f.Linearize(loop.Float(rd.h, 0), load(rd.powers, Sub(plus(rd.stages, -1), i)), rd.w)
		for p, dw := range f.PullW(y, tape, rd.w) {
			sums[p] = Add(sums[p], loop.Scale(dw, rd.h))
		}
		return sums
	}
	return horner(transposed, stages, v, h, r, zeros(w[:f.Trainable()]), all, weights), all.powers
}
