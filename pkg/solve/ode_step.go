package solve

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// stepper computes single steps. The stages are computed in a loop, so that the field is compiled once. A stack [stages, n,
// d] has the slopes.
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

// trial is a step of an adaptive method: the next state and its slope, the estimated error, a state inside the step, and
// the working memory again.
type trial struct{ next, slope, error, dense, scratch *Node }

// try computes a step from the state x, whose slope is given, at time t. dense has the stages' weights of the state inside
// it ([Method.dense]). scratch is memory for a state per stage.
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

// grid has the times and sizes of steps, and the weights of their stages, row by row: B but in the last step of an adaptive
// integration, whose end lies inside it.
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
	s := steps[reads[W]]{segment: segment, add: func(sums, dw []*Node, _ *Node) []*Node { return addAll(sums, dw) }}
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

// needed is the number of stages that a step with the weights b depends on: the last one only if its weight is not zero.
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
		grads := cotangents{Add(st.grads.x, point), addAll(st.grads.w, dw)}
		return state{grads, store(st.points, point, i)}
	}).grads
}

// combine is x + h Σ_j c_j k_j for a stack k and a vector c, without x if this is nil.
func combine(x, k, h, c *Node) *Node { return sum(x, k, loop.Scale(c, h)) }

// sum is x + Σ_j c_j k_j for a stack k and a vector c, without x if this is nil.
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
