package solve

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// The stages of a step are computed in a loop, so that the field is compiled once, not once for each stage. The slopes
// k_i are in a stack [stages, n, d].

// slopes computes the slopes k_i of a step of size h from the state x at time t (see [Method]), for i from 0 to
// count-1. It stores them in the stack k, which has len(m.B) places. If the argument first is not nil, it is the slope
// k_0, which is then not computed.
func (m Method) slopes(f Field, count, t, x, h, first, k *Node, w []*Node) *Node {
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

// trial is the result of one step of an adaptive method. next is the state after the step, slope is the value of the
// field there, and error is the estimated error. dense is a state inside the step (see [Method.try]), and scratch is
// the working memory.
type trial struct{ next, slope, error, dense, scratch *Node }

// try makes a step of size h from the state x at time t. The argument slope is the value of the field at (t, x). The
// argument dense has a weight for each stage; with these weights, the slopes give the state inside the step that try
// returns (see [Method.dense]). scratch is memory for one state per stage.
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

// stage returns the time and the state at which stage i evaluates the field: t + C_i h, and x + h Σ_j A_ij k_j.
func (m Method) stage(i, t, x, h, k *Node) (time, u *Node) {
	return Add(t, Mul(entry(vector(x, m.C), i), h)), combine(x, k, h, pick(vector(x, flat(m.A)), i, len(m.B)))
}

// grid has an entry for each step: the time at which the step begins, the size of the step, and the weights of its
// stages. The weights are the method's B. Only the last step of an adaptive integration has other weights: the result
// of this step is a state inside the step, at the time To.
type grid struct{ times, sizes, weights *Node }

// reads is what the steps of [Method.steps] read: the field's weights, and the grid. For a [LinearField], the grid has
// the coefficients of the polynomial R in place of the stages' weights.
type reads struct {
	w    []*Node
	grid grid
}

func (m Method) reads(f Field, w []*Node, g grid) reads {
	if _, ok := f.(LinearField); ok {
		g.weights = m.stability(g.weights)
	}
	return reads{w, g}
}

// step returns the time t at which step i begins, its size h, and the weights b of its stages.
func (g grid) step(i *Node) (t, h, b *Node) {
	return entry(g.times, i), entry(g.sizes, i), pick(g.weights, i, g.weights.Shape().Dimensions[1])
}

// steps describes the steps of the method on a grid: how to compute them, and how to differentiate them. The argument
// segment is the number of steps between checkpoints.
func (m Method) steps(f Field, segment int) steps[reads] {
	s := steps[reads]{segment: segment, add: own(nil).add}
	whole := m.without()
	if f, ok := f.(LinearField); ok {
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

// needed is the number of stages that the result of a step depends on. b are the weights of the stages. If the last
// weight is zero, the last stage is not needed.
func needed(b *Node) *Node {
	s := b.Shape().Size()
	last := element(b, s-1)
	return Where(Equal(last, loop.Float(last, 0)), loop.Int(b.Graph(), s-1), loop.Int(b.Graph(), s))
}

// pull is the vector-Jacobian product of the step x + h Σ_i b_i k_i. Given the cotangent v of the step's result, it
// returns the cotangents of x and of the trainable weights. Let u_i be the state at which stage i evaluates the field,
// and let bars mark cotangents. Then
//
//	k̄_i = h b_i v + h Σ_j>i A_ji ū_j,  ū_i = (∂f/∂x)^T k̄_i,  x̄ = v + Σ_i ū_i.
func (m Method) pull(f Field, b, t, x, h, v *Node, w []*Node) cotangents {
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
	// The slope of the last stage is not computed, since no other stage depends on it.
	k := m.slopes(f, plus(stages, -1), t, x, h, nil, stack(x, s), w)
	start := state{cotangents{v, zeros(w[:f.Trainable()])}, stack(x, s)}
	return loop.Repeat(stages, start, reads{stages, b, t, x, h, v, k, w}, func(n *Node, st state, r reads) state {
		i := Sub(plus(r.stages, -1), n)
		time, u := m.stage(i, r.t, r.x, r.h, r.k)
		tape := f.Linearize(time, u, r.w)
		slope := combine(loop.Scale(r.v, Mul(r.h, entry(r.b, i))), st.points, r.h, pick(vector(r.x, transposed), i, s))
		point := f.PullX(slope, tape, r.w)
		grads := cotangents{Add(st.grads.x, point), own(nil).add(st.grads.w, f.PullW(slope, tape, r.w), i)}
		return state{grads, store(st.points, point, i)}
	}).grads
}

// combine is x + h Σ_j c_j k_j, where k is a stack and c a vector. If x is nil, it is left out.
func combine(x, k, h, c *Node) *Node { return sum(x, k, loop.Scale(c, h)) }

// sum is x + Σ_j c_j k_j, or Σ_j c_j k_j if x is nil. k is a stack, and c a vector.
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
