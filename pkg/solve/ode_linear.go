package solve

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// LinearField is a [Field] f(t, X; w) = M(w) X with a linear operator M on the state, the same at all times.
//
// A step of any explicit Runge-Kutta method is then a polynomial in h M, the method's stability function
//
//	R(z) = Σ_k r_k z^k = 1 + Σ_k>0 (b^T A^(k-1) 1) z^k
//
// (Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations II, section IV.2), and needs none of the stages but the
// last: by Horner's rule, y_s = R(h M) x from
//
//	y_1 = r_s-1 x + h r_s M x,  y_k = r_s-k x + h M y_k-1.
//
// The results are those of the stages but for rounding.
type LinearField interface {
	Field
	// Linear tells fields of this kind from others; it does nothing.
	Linear()
}

// stability are the coefficients r_0 … r_s of the stability function for rows b of weights of the stages.
func (m Method) stability(b *Node) *Node {
	rows, s := b.Shape().Dimensions[0], len(m.A)
	// powers[i][k] is entry i of A^(k-1) 1.
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

// row is a vector as a matrix of one row.
func row(v *Node) *Node { return Reshape(v, 1, v.Shape().Size()) }

// horner is R(h M) x for coefficients r, of which those above degree, an int32 scalar, are zero, with multiply(y) = M y; each, if
// not nil, is told every y_i that is multiplied, by i from 0, and returns the values of its sums:
//
//	y_0 = r_s x,  y_i = r_s-i x + h M y_i-1,  R(h M) x = y_s,  s = degree.
func horner(multiply func(y *Node, w []*Node) *Node, degree, x, h, r *Node, sums, w []*Node, each func(i, y *Node, sums, w []*Node) []*Node) []*Node {
	// The last product is state, too, and the result is made of it: XLA would fuse a product that nothing else reads with the sum,
	// and no longer vectorise it.
	next := func(power, x, my, h, r *Node) *Node {
		return Add(loop.Scale(x, Reshape(pick(r, power, 1))), loop.Scale(my, h))
	}
	y := loop.Scale(x, Reshape(pick(r, degree, 1)))
	out := loop.Repeat(degree, append([]*Node{y, loop.Zeros(x)}, sums...), append([]*Node{degree, x, h, r}, w...),
		func(i *Node, state, reads []*Node) []*Node {
			degree, x, h, r, w := reads[0], reads[1], reads[2], reads[3], reads[4:]
			my := multiply(state[0], w)
			y := next(Sub(plus(degree, -1), i), x, my, h, r)
			var others []*Node
			if each != nil {
				others = each(i, state[0], state[2:], w)
			}
			// The sums read y_i, too, and XLA would copy it lest they do so late.
			for _, o := range others {
				some := Reshape(Slice(Reshape(o, o.Shape().Size()), AxisElem(0)))
				y = loop.After(Abs(some), y)
			}
			return append([]*Node{y, my}, others...)
		})
	return append([]*Node{next(loop.Int(x.Graph(), 0), x, out[1], h, r)}, out[2:]...)
}

// advanceLinear is R(h M) x.
func (m Method) advanceLinear(f LinearField, x, h *Node, w []*Node) *Node {
	multiply := func(y *Node, w []*Node) *Node { return f.Apply(loop.Float(y, 0), y, w) }
	r := Reshape(m.stability(row(vector(x, m.B))), len(m.B)+1)
	return horner(multiply, loop.Int(x.Graph(), len(m.B)), x, h, r, nil, w, nil)[0]
}

// powers fills the first count places of a stack with x, h M x, (h M)^2 x and so on.
func powers(f LinearField, count, x, h, stack *Node, w []*Node) *Node {
	stack = store(stack, x, loop.Int(x.Graph(), 0))
	return loop.Repeat(plus(count, -1), []*Node{x, stack}, append([]*Node{h}, w...), func(i *Node, state, reads []*Node) []*Node {
		h, w := reads[0], reads[1:]
		next := loop.Scale(f.Apply(loop.Float(h, 0), state[0], w), h)
		return []*Node{next, store(state[1], next, plus(i, 1))}
	})[1]
}

// tryLinear is [Method.try] for a linear field: all of it is made of the powers (h M)^k x, of which the slope at x gives the first.
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

// pullLinear are the cotangents of x and of the trainable weights for the cotangent v of R(h M) x, for coefficients r:
//
//	x̄ = R(h M)^T v,  M̄ = h Σ_i ȳ_i ((h M)^(s-1-i) x)^T,  ȳ_i from Horner's rule for x̄.
//
// scratch is room for s states. Where r_s is zero, s is one less.
func pullLinear(f LinearField, r, x, h, v *Node, scratch, w []*Node) (grads, scratchAfter []*Node) {
	stages := plus(needed(r), -1)
	powers := powers(f, stages, x, h, scratch[0], w)
	sums := zeros(w[:f.Trainable()])
	transposed := func(y *Node, reads []*Node) *Node {
		w := reads[3:]
		return f.PullX(y, f.Linearize(loop.Float(y, 0), y, w), w)
	}
	reads := append([]*Node{stages, powers, h}, w...)
	grads = horner(transposed, stages, v, h, r, sums, reads, func(i, y *Node, sums, reads []*Node) []*Node {
		stages, powers, h, w := reads[0], reads[1], reads[2], reads[3:]
		tape := f.Linearize(loop.Float(h, 0), load(powers, Sub(plus(stages, -1), i)), w)
		var next []*Node
		for p, dw := range f.PullW(y, tape, w) {
			next = append(next, Add(sums[p], loop.Scale(dw, h)))
		}
		return next
	})
	return grads, []*Node{powers}
}
