package solve

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// LinearField is a [Field] f(t, X; w) = M(w) X, where M is a linear operator on the state that does not depend on time.
//
// Consider a step of size h by an explicit Runge-Kutta method with s stages and the coefficients A and b (A and B in
// [Method]). Its result is R(h M) x, where the polynomial R is the method's stability function
//
//	R(z) = Σ_k r_k z^k = 1 + Σ_k>0 (b^T A^(k-1) 1) z^k
//
// (Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations II, section IV.2). The last 1 in the brackets is
// the vector of ones. So the step is computed without its stages. Horner's rule gives R(h M) x = y_s by
//
//	y_1 = r_s-1 x + h r_s M x,  y_k = r_s-k x + h M y_k-1.
//
// Up to rounding, the results equal those of computing stage by stage.
type LinearField interface {
	Field
	// Linear does nothing. A field that has this method is taken to be linear.
	Linear()
}

// stability returns the coefficients r_0 … r_s of the stability function. Each row of b has the weights of the stages
// of one step, and the result has a row of coefficients for each row of b.
func (m Method) stability(b *Node) *Node {
	rows, s := b.Shape().Dimensions[0], len(m.A)
	// powers[i][k] is entry i of the vector A^(k-1) 1, where 1 is the vector of ones.
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

// hornerState is the loop state of Horner's rule; see [horner].
type hornerState struct {
	// y is the current y_i, and my is the last product, M y_i-1. sums are the current values of horner's argument sums.
	y, my *Node
	sums  []*Node
}

// horner computes R(h M) x for a polynomial R of degree s with the coefficients r_0 … r_s in the vector r. Here h is
// the size of a step in time (see [LinearField]), and M is a linear operator. The argument degree is s, an int32
// scalar. The function multiply(y, more) returns M y, where more is what else multiply reads. The computation is
//
//	y_0 = r_s x,  y_i = r_s-i x + h M y_i-1,  R(h M) x = y_s.
//
// The caller can have other values computed from y_0 … y_s-1 and added up, such as the cotangents of the weights (see
// [pullLinear]). For this, horner calls the function each(i, y_i, sums, more) for i = 0, 1, …, s-1, and takes its
// result as the new sums. The list sums has an array for each total. If the function each is nil, sums stays as it is.
// horner returns R(h M) x and the last sums.
func horner[R any](multiply func(y *Node, r R) *Node, degree, x, h, r *Node, sums []*Node, more R,
	each func(i, y *Node, sums []*Node, r R) []*Node) cotangents {
	type reads struct {
		degree, x, h, r *Node
		more            R
	}
	// The loop state contains the product M y_i-1, from which the next step computes y_i, and not y_i alone. Otherwise
	// XLA would compute the product and y_i in one loop over the entries of the arrays, which is slow, since XLA does
	// not vectorise it. After the loop, y_s is computed from the last product.
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
		// XLA can write the new y over the old one, s.y, only if s.y is not read any more. Otherwise it copies s.y
		// first. The sums are computed from s.y, so y is made to depend on them: XLA then computes y after the sums
		// (see [loop.After]).
		for _, sum := range s.sums {
			some := Reshape(Slice(Reshape(sum, sum.Shape().Size()), AxisElem(0)))
			y = loop.After(Abs(some), y)
		}
		return hornerState{y, my, s.sums}
	})
	return cotangents{next(loop.Int(x.Graph(), 0), out.my, all), out.sums}
}

// advanceLinear is a step of the method for a linear field: it returns R(h M) x (see [LinearField]).
func (m Method) advanceLinear(f LinearField, x, h *Node, w []*Node) *Node {
	multiply := func(y *Node, w []*Node) *Node { return f.Apply(loop.Float(y, 0), y, w) }
	r := Reshape(m.stability(row(vector(x, m.B))), len(m.B)+1)
	return horner(multiply, loop.Int(x.Graph(), len(m.B)), x, h, r, nil, w, nil).x
}

// powers stores x, h M x, (h M)^2 x, and so on in the stack, and returns the stack. The argument count is the number of
// these values. M is the operator of the field f.
func powers(f LinearField, count, x, h, stack *Node, w []*Node) *Node {
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

// tryLinear is [Method.try] for a linear field. It computes the arrays (h M)^k x for k = 1 … s, where s is the number
// of stages. For k = 1 this is h times the argument slope, which is M x. The state after the step, the error, and the
// state inside the step are weighted sums of x and these arrays. The slope after the step is such a sum, divided by h.
func (m Method) tryLinear(f LinearField, x, h, slope, dense, scratch *Node, w []*Node) trial {
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
// pullLinear returns the cotangent x̄ of x, and the cotangents of the trainable weights. x̄ = R(h M)^T v is computed by
// Horner's rule ([horner]) with M^T in place of M:
//
//	y_0 = r_s v,  y_i = r_s-i v + h M^T y_i-1,  x̄ = y_s.
//
// The values y_i also give the cotangent M̄ of M:
//
//	M̄ = h Σ_i y_i ((h M)^(s-1-i) x)^T,  i = 0 … s-1.
//
// M̄ itself is not stored. The field's PullW turns each term of the sum into the cotangents of the weights, and these
// are added up. scratch is working memory for s states. If r_s is zero, everything is computed with s-1 in place of s.
func pullLinear(f LinearField, r, x, h, v, scratch *Node, w []*Node) (grads cotangents, scratchAfter *Node) {
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
