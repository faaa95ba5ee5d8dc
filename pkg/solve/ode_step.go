package solve

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// The stages of a step run in a loop, so that the field is compiled once, not once per stage; the stages k_i lie in one
// stack [stages, n, d].

// slopes are the stages of a step of size h from (t, x), the first count of them, in a stack of len(m.B); first, if not nil,
// is the first.
func (m Method) slopes(f Field, count, t, x, h, first, k *Node, w []*Node) *Node {
	from := 0
	if first != nil {
		from, k = 1, store(k, first, loop.Int(x.Graph(), 0))
	}
	return loop.Repeat(plus(count, -from), []*Node{k}, append([]*Node{t, x, h}, w...),
		func(i *Node, state, reads []*Node) []*Node {
			t, x, h, w := reads[0], reads[1], reads[2], reads[3:]
			i = plus(i, from)
			time, u := m.stage(i, t, x, h, state[0])
			return []*Node{store(state[0], f.Apply(time, u, w), i)}
		})[0]
}

// trial is a step of an adaptive method: the next state and its slope, the estimated error, the state at a fraction of the step
// that weights of the stages stand for, and the memory that was used.
type trial struct{ next, slope, error, dense, scratch *Node }

// try makes a step of size h from (t, x), where the slope is known; scratch is room for a state per stage.
func (m Method) try(f Field, t, x, h, slope, dense, scratch *Node, w []*Node) trial {
	if f, ok := f.(LinearField); ok {
		return m.tryLinear(f, x, h, slope, dense, scratch, w)
	}
	k := m.slopes(f, loop.Int(x.Graph(), len(m.B)), t, x, h, slope, scratch, w)
	return trial{
		next:    combine(x, k, h, vector(x, m.B)),
		error:   combine(nil, k, h, vector(x, m.Error)),
		dense:   combine(x, k, h, dense),
		slope:   element(k, len(m.B)-1),
		scratch: k,
	}
}

// stage is where stage i evaluates the field: t + C_i h and x + h Σ_j A_ij k_j.
func (m Method) stage(i, t, x, h, k *Node) (time, u *Node) {
	c := pick(vector(x, m.C), i, 1)
	return Add(t, Mul(Reshape(c), h)), combine(x, k, h, pick(vector(x, flat(m.A)), i, len(m.B)))
}

// grid are steps' times, sizes and weights of the stages, by their number. The weights are the method's, except in steps whose
// result is used but not walked on from.
type grid struct{ times, sizes, weights *Node }

// weighed are w and the grid, as [Method.steps] reads them: of linear fields, coefficients instead of weights.
func (m Method) weighed(f Field, w []*Node, g grid) []*Node {
	last := g.weights
	if _, ok := f.(LinearField); ok {
		last = m.stability(last)
	}
	return append(append([]*Node{}, w...), g.times, g.sizes, last)
}

// steps are the method's steps on a grid, which follows the weights in w.
func (m Method) steps(f Field, segment int) steps {
	at := func(i *Node, w []*Node) (b, t, h *Node, weights []*Node) {
		n := len(w) - 3
		return pick(w[n+2], i, w[n+2].Shape().Dimensions[1]), Reshape(pick(w[n], i, 1)), Reshape(pick(w[n+1], i, 1)), w[:n]
	}
	s := steps{trainable: f.Trainable(), segment: segment}
	whole := m.without()
	if f, ok := f.(LinearField); ok {
		s.advance = func(i, x *Node, w []*Node) *Node {
			_, _, h, w := at(i, w)
			return whole.advanceLinear(f, x, h, w)
		}
		s.scratch = func(x *Node) []*Node { return []*Node{stack(x, len(m.B))} }
		s.pull = func(i, x, v *Node, scratch, w []*Node) (grads, scratchAfter []*Node) {
			r, _, h, w := at(i, w)
			return pullLinear(f, r, x, h, v, scratch, w)
		}
		return s
	}
	s.advance = func(i, x *Node, w []*Node) *Node {
		_, t, h, w := at(i, w)
		k := whole.slopes(f, loop.Int(x.Graph(), len(whole.B)), t, x, h, nil, stack(x, len(whole.B)), w)
		return combine(x, k, h, vector(x, whole.B))
	}
	s.pull = func(i, x, v *Node, _, w []*Node) (grads, scratchAfter []*Node) {
		b, t, h, w := at(i, w)
		return m.pull(f, b, t, x, h, v, w), nil
	}
	return s
}

// needed is the number of entries of b that matter: all of them, or all but the last, where that is zero.
func needed(b *Node) *Node {
	s := b.Shape().Size()
	last := element(b, s-1)
	return Where(Equal(last, loop.Float(last, 0)), loop.Int(b.Graph(), s-1), loop.Int(b.Graph(), s))
}

// pull is the vector-Jacobian product of the step x + h Σ_i b_i k_i: the cotangents of x and of the trainable weights for the
// cotangent v of the result. With u_i the point of stage i and bars for cotangents,
//
//	k̄_i = h b_i v + h Σ_j>i A_ji ū_j,  ū_i = (∂f/∂x)^T k̄_i,  x̄ = v + Σ_i ū_i.
func (m Method) pull(f Field, b, t, x, h, v *Node, w []*Node) []*Node {
	s := len(m.B)
	state := append([]*Node{v, stack(x, s)}, zeros(w[:f.Trainable()])...)
	stages := needed(b)
	// The last stage's value is no stage's input.
	k := m.slopes(f, plus(stages, -1), t, x, h, nil, stack(x, s), w)
	transposed := make([]float64, s*s)
	for i, row := range m.A {
		for j, a := range row {
			transposed[j*s+i] = a
		}
	}
	out := loop.Repeat(stages, state, append([]*Node{stages, b, t, x, h, v, k}, w...), func(n *Node, state, reads []*Node) []*Node {
		stages, b, t, x, h, v, k, w := reads[0], reads[1], reads[2], reads[3], reads[4], reads[5], reads[6], reads[7:]
		i := Sub(plus(stages, -1), n)
		time, u := m.stage(i, t, x, h, k)
		tape := f.Linearize(time, u, w)
		slope := combine(loop.Scale(v, Mul(h, Reshape(pick(b, i, 1)))), state[1], h, pick(vector(x, transposed), i, s))
		point := f.PullX(slope, tape, w)
		next := []*Node{Add(state[0], point), store(state[1], point, i)}
		for p, dw := range f.PullW(slope, tape, w) {
			next = append(next, Add(state[2+p], dw))
		}
		return next
	})
	return append([]*Node{out[0]}, out[2:]...)
}

// combine is x + h Σ_j c_j k_j.
func combine(x, k, h, c *Node) *Node { return sum(x, k, loop.Scale(c, h)) }

// sum is x + Σ_j c_j k_j, or the sum alone where x is nil.
func sum(x, k, c *Node) *Node {
	for j := range k.Shape().Dimensions[0] {
		term := loop.Scale(element(k, j), element(c, j))
		if x == nil {
			x = term
		} else {
			x = Add(x, term)
		}
	}
	return x
}

// element is entry j of a vector, or what is at place j of a stack.
func element(stack *Node, j int) *Node {
	return Reshape(Slice(stack, AxisElem(j)), stack.Shape().Dimensions[1:]...)
}

// vector is a constant vector of x's type.
func vector(x *Node, values []float64) *Node {
	return ConvertDType(Const(x.Graph(), values), x.DType())
}

// pick is entry i of a table whose rows have the given width, as a vector.
func pick(table, i *Node, width int) *Node {
	rows := Reshape(table, table.Shape().Size()/width, width)
	return Reshape(Gather(rows, Reshape(i, 1, 1)), width)
}

func flat(rows [][]float64) (out []float64) {
	for _, r := range rows {
		out = append(out, r...)
	}
	return out
}
