package solve

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// This file computes single steps of a Runge-Kutta method. The stages of a step are computed in a loop, so that the
// field is compiled once, not once for each stage. A stack [stages, n, d] has the slopes k_i of the stages (see
// [Method]).

// slopes computes the slopes k_i, for i from 0 to count-1, of a step of size h from the state x at time t (see
// [Method]). It stores them in the stack k, which has a place for each stage. The caller may know the slope k_0
// already, and pass it as the argument first. Otherwise first is nil.
func (m Method) slopes(f field, count, t, x, h, first, k *Node, w []*Node) *Node {
	from := 0
	if first != nil {
		from, k = 1, store(k, first, loop.Int(x.Graph(), 0))
	}
	type reads struct {
		t, x, h *Node
		w       []*Node
	}
	return loop.Repeat(plus(count, -from), k, reads{t, x, h, w}, func(i, k *Node, r reads) *Node {
		i = plus(i, from)
		time, u := m.stage(i, r.t, r.x, r.h, k)
		return store(k, f.Apply(time, u, r.w), i)
	})
}

// trial is the result of one step of an adaptive method. next is the state after the step, and slope is the value of
// the field at this state. error is the estimated error of the step. dense is a state inside the step (see
// [Method.try]). scratch is the working memory, for use in the next step.
type trial struct{ next, slope, error, dense, scratch *Node }

// try computes a step of size h from the state x at time t. The argument slope is the value of the field at (t, x). The
// argument dense is a vector from [Method.dense], with a weight for each stage. With these weights, try also computes a
// state inside the step. The argument scratch is working memory for one state per stage.
func (m Method) try(f field, t, x, h, slope, dense, scratch *Node, w []*Node) trial {
	if f, ok := f.(linearField); ok {
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

// stage returns the time t + C_i h and the state x + h Σ_j A_ij k_j at which stage i evaluates the field. C and A are
// coefficients of the method (see [Method]). The argument k is a stack with the slopes k_j.
func (m Method) stage(i, t, x, h, k *Node) (time, u *Node) {
	return Add(t, Mul(entry(vector(x, m.C), i), h)), combine(x, k, h, pick(vector(x, flat(m.A)), i, len(m.B)))
}

// grid describes a sequence of steps by three arrays. Entry i of times is the time at which step i begins. Entry i of
// sizes is the size of this step. Row i of weights has the weights of the stages of this step.
//
// The weights are the coefficients B of the [Method], with one exception. In an adaptive integration, the end time may
// lie inside the last step. So the last step has the weights that give the state at the end time.
type grid struct{ times, sizes, weights *Node }

// reads has the values that the steps of [Method.steps] read: the field's weights w, and the grid. For a [LinearField],
// each row of grid.weights has the coefficients of the polynomial R in place of the stages' weights.
type reads struct {
	w    []*Node
	grid grid
}

func (m Method) reads(f field, w []*Node, g grid) reads {
	if _, ok := f.(linearField); ok {
		g.weights = m.stability(g.weights)
	}
	return reads{w, g}
}

// step returns the time t at which step i begins, its size h, and the weights b of its stages.
func (g grid) step(i *Node) (t, h, b *Node) {
	return entry(g.times, i), entry(g.sizes, i), pick(g.weights, i, g.weights.Shape().Dimensions[1])
}

// steps says how to compute the steps of a [grid] by the method m, and how to differentiate them. The argument segment
// is the number of steps from one checkpoint to the next.
func (m Method) steps(f field, segment int) steps[reads] {
	s := steps[reads]{segment: segment, add: func(sums, dw []*Node, _ *Node) []*Node { return addAll(sums, dw) }}
	whole := m.without()
	if f, ok := f.(linearField); ok {
		s.advance = func(i, x *Node, r reads) *Node {
			_, h, _ := r.grid.step(i)
			return whole.advanceLinear(f, x, h, r.w)
		}
		s.scratch = func(x *Node) *Node { return stack(x, len(m.B)) }
		s.pull = func(i, x, v, scratch *Node, r reads) (cotangents, *Node) {
			_, h, b := r.grid.step(i)
			return pullLinear(f, b, x, h, v, scratch, r.w)
		}
		return s
	}
	s.advance = func(i, x *Node, r reads) *Node {
		t, h, _ := r.grid.step(i)
		k := whole.slopes(f, loop.Int(x.Graph(), len(whole.B)), t, x, h, nil, stack(x, len(whole.B)), r.w)
		return combine(x, k, h, vector(x, whole.B))
	}
	s.pull = func(i, x, v, _ *Node, r reads) (cotangents, *Node) {
		t, h, b := r.grid.step(i)
		return m.pull(f, b, t, x, h, v, r.w), nil
	}
	return s
}

// needed returns how many stages the result of a step depends on. The vector b has the weights of the stages. If the
// last weight is zero, the last stage is not needed.
func needed(b *Node) *Node {
	s := b.Shape().Size()
	last := element(b, s-1)
	return Where(Equal(last, loop.Float(last, 0)), loop.Int(b.Graph(), s-1), loop.Int(b.Graph(), s))
}

// pull is the vector-Jacobian product of the step x + h Σ_i b_i k_i with the slopes k_i (see [Method]). Given the
// cotangent v of the step's result, it returns the cotangents of x and of the trainable weights. Let u_i be the state
// at which stage i evaluates the field, and let a bar mark a cotangent: k̄_i is the cotangent of k_i. From the last
// stage to the first, pull computes
//
//	k̄_i = h b_i v + h Σ_j>i A_ji ū_j,  ū_i = (∂f/∂x)^T k̄_i,  x̄ = v + Σ_i ū_i.
func (m Method) pull(f field, b, t, x, h, v *Node, w []*Node) cotangents {
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
		w                        []*Node
	}
	stages := needed(b)
	// The slopes are needed to compute the state at which each stage evaluates the field. No such state depends on the
	// slope of the last stage, so this slope is not computed.
	k := m.slopes(f, plus(stages, -1), t, x, h, nil, stack(x, s), w)
	start := state{cotangents{v, zeros(w[:f.Trainable()])}, stack(x, s)}
	return loop.Repeat(stages, start, reads{stages, b, t, x, h, v, k, w}, func(n *Node, st state, r reads) state {
		i := Sub(plus(r.stages, -1), n)
		time, u := m.stage(i, r.t, r.x, r.h, r.k)
		tape := f.Linearize(time, u, r.w)
		slope := combine(loop.Scale(r.v, Mul(r.h, entry(r.b, i))), st.points, r.h, pick(vector(r.x, transposed), i, s))
		point := f.PullX(slope, tape, r.w)
		grads := cotangents{Add(st.grads.x, point), addAll(st.grads.w, f.PullW(slope, tape, r.w))}
		return state{grads, store(st.points, point, i)}
	}).grads
}

// combine returns x + h Σ_j c_j k_j, where k is a stack and c is a vector. If x is nil, combine returns h Σ_j c_j k_j.
func combine(x, k, h, c *Node) *Node { return sum(x, k, loop.Scale(c, h)) }

// sum returns x + Σ_j c_j k_j, where k is a stack and c is a vector. If x is nil, sum returns Σ_j c_j k_j.
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

func flat(rows [][]float64) (out []float64) {
	for _, r := range rows {
		out = append(out, r...)
	}
	return out
}
