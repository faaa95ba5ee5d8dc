package solve

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// smooth is the number of layers from which on an adjoint solve starts from the linear extrapolation 2 p - p' of the
// last two products, and not from p alone (see [chain.pullBack]). In deep chains, adjacent layers differ little, and
// errors just below the tolerance add up. In shorter ones, extrapolation is worse about as often as better, since ReLU
// may be zero in one layer and not the next.
const smooth = 128

// jacobianChange estimates how much the Jacobians of adjacent layers differ, as a fraction: 2/depth, within 1/8 and 1.
// The next layer's solve is taken to leave this fraction of a solve's error. It is never below 1/8, since what is left
// adds up.
func jacobianChange(depth int) float64 { return min(1, max(1.0/8, 2/float64(depth))) }

// history is what the backward pass reads: the weights, and the preactivations by steps, or nil if they were not kept.
type history[W any] struct {
	w              W
	preactivations *Node
}

// adjoint is the state of the backward pass.
type adjoint struct {
	z, v              *Node   // the result of the layer to differentiate next, and its cotangent
	handed            *handed // nil if layers have separate weights
	iterations, worst *Node   // of all solves so far; the largest residual
	dw                []*Node // the sums of (∂h/∂w)^T λ so far; the weights' cotangents are minus these
}

// handed is what one adjoint solve passes on to the next; symbols are those of [chain.pullBack].
type handed struct {
	p, slope      *Node // K^T q, and its difference from that of the solve before; slope is nil below [smooth] layers
	pending, rate *Node // e, and the solve's rate of convergence (see [fixedPoint])
}

// linearised is what a layer's vector-Jacobian products need at its result z.
type linearised[W any] struct {
	u    *Node
	tape []*Node
	w    W
}

// pullBack differentiates the chain, given its result z and the cotangent v of z, from the layer that was inverted
// last. For the result z of each layer and its cotangent v, it
//
//  1. solves the adjoint equation λ = v - J_h(z)^T λ,
//  2. adds -(∂h/∂w)^T λ to the weights' cotangents, and
//  3. computes the layer's input z + h(z), whose cotangent is λ: the result of the next layer. With a kept
//     preactivation u, this is z + σ(u).
//
// J_h = σ'(u) K with K = ∂u/∂X. The solve looks for p = J_h^T λ by way of q:
//
//	λ = v - p,  q = σ'(u) ∘ λ,  p = K^T q.
//
// The first q is from the p of the previous solve (or its extrapolation, see [smooth]). Each iteration computes p from
// q, and a new q, which differs by e. The solve ends when the mean absolute value of e is small enough, relative to
// that of σ'(u) ∘ v (see [fixedPoint]).
//
// The p of the last iteration lacks K^T e, so that λ = v - p is too large by K^T e. Instead of one more product, the
// solve of the next layer adds e to its q, and so K^T e to its p: both layers have nearly the same K. The weights'
// cotangents count e once: this layer's part is computed from q - e.
//
// The last solve does not pass e on. With separate weights, no solve does, and all start from p = 0, since each layer
// has another K.
func (c chain[W]) pullBack(z, v *Node, h history[W]) (cotangents, *Node) {
	g := z.Graph()
	start := adjoint{z: z, v: v, iterations: loop.Int(g, 0), worst: loop.Float(z, 0),
		dw: zeros(trainableOf(c.weights, h.w))}
	if !c.separate() {
		start.handed = &handed{p: loop.Zeros(v), pending: loop.Zeros(v), rate: loop.Float(z, 1)}
		if c.depth >= smooth {
			start.handed.slope = loop.Zeros(v)
		}
	}
	end := loop.Repeat(loop.Int(g, c.depth), start, h, func(i *Node, s adjoint, h history[W]) adjoint {
		// Layer 0 was inverted last, so that step i differentiates layer i.
		l := c.linearise(s.z, h, i)
		whole := c.block.Gate(l.u, s.v, l.w) // the value that q would have if p were 0
		if s.handed != nil {
			whole = Add(whole, s.handed.pending)
		}
		size := Max(loop.MeanAbs(whole), loop.Float(s.v, 1e-30))
		// left is 1 if another solve follows and can correct this one's error, else 0.
		left := ConvertDType(LessThan(i, loop.Int(i.Graph(), c.depth-1)), s.v.DType())
		found, end := c.solveAdjoint(l, whole, s.handed, Mul(size, loop.Float(s.v, AdjointFactor*c.Tolerance)), left)
		q := found.q
		if s.handed != nil {
			q = Sub(q, loop.Scale(found.e, left))
			next := &handed{p: found.p, pending: found.e, rate: end.rate}
			if s.handed.slope != nil {
				next.slope = Sub(found.p, s.handed.p)
			}
			s.handed = next
		}
		s.z, s.v = Add(s.z, c.block.Activate(l.u, l.w)), Sub(s.v, found.p)
		s.iterations, s.worst = Add(s.iterations, end.count), Max(s.worst, Div(end.residual, size))
		dw := cotangentsOf(c.weights, c.block.PullW(q, found.shared, l.tape, l.w), l.w)
		s.dw = c.add(s.dw, dw, i)
		return s
	})
	grads := cotangents{x: end.v}
	for _, dw := range end.dw {
		grads.w = append(grads.w, Neg(dw))
	}
	return grads, pair(end.iterations, end.worst)
}

// linearise linearises layer i at z. A kept preactivation is that of step depth-1-i.
func (c chain[W]) linearise(z *Node, h history[W], i *Node) linearised[W] {
	w := at(c.weights, h.w, i)
	if h.preactivations == nil {
		u, tape := c.block.Linearize(z, w)
		return linearised[W]{u, tape, w}
	}
	return linearised[W]{load(h.preactivations, c.layer(i)), c.block.(taper[W]).Tape(z, w), w}
}

// dual is the state of an adjoint solve: q, its last change e, p = K^T (q - e), and what PullW can reuse.
type dual struct {
	q, e, p *Node
	shared  []*Node
}

// dualReads is what an adjoint solve reads; whole is the value that q would have if p were 0.
type dualReads[W any] struct {
	whole *Node
	layer linearised[W]
}

// solveAdjoint solves q = whole - σ'(u) ∘ K^T q, from what the previous solve passed on or, if h is nil, from q =
// whole.
func (c chain[W]) solveAdjoint(l linearised[W], whole *Node, h *handed, tolerance, left *Node) (dual, end) {
	one := loop.Float(whole, 1)
	iteration := fixedPoint[dual, dualReads[W]]{limit: c.AdjointIterations, tolerance: tolerance,
		linear: true, rate: one, least: one}
	if iteration.limit <= 0 {
		iteration.limit = c.MaxIterations
	}
	iteration.step = func(s dual, r dualReads[W]) (dual, *Node) {
		p, shared := c.block.PullX(s.q, r.layer.tape, r.layer.w)
		e := Sub(Sub(r.whole, c.block.Gate(r.layer.u, p, r.layer.w)), s.q)
		change := loop.MeanAbs(e)
		return dual{Add(loop.After(change, s.q), e), e, p, shared}, change
	}
	_, shared := c.block.PullX(whole, l.tape, l.w) // only the shapes of shared are used
	start := dual{q: whole, e: loop.Zeros(whole), p: loop.Zeros(whole), shared: zeros(shared)}
	if h != nil {
		p := h.p
		if h.slope != nil {
			p = Add(p, h.slope)
		}
		start.q, start.e, start.p = Sub(whole, c.block.Gate(l.u, p, l.w)), h.pending, h.p
		iteration.rate, iteration.least = h.rate, Sub(one, Mul(left, loop.Float(one, 1-jacobianChange(c.depth))))
	}
	return iteration.run(start, dualReads[W]{whole, l})
}

// unrolledBack differentiates the iterations of all layers. It repeats the solve of each, and keeps the iterates of
// one.
func (c chain[W]) unrolledBack(v, inputs *Node, w W) (cotangents, *Node) {
	type state struct {
		iterations *Node
		grads      cotangents
	}
	type reads struct {
		inputs *Node
		w      W
	}
	start := state{loop.Int(v.Graph(), 0), cotangents{v, zeros(trainableOf(c.weights, w))}}
	out := loop.Repeat(loop.Int(v.Graph(), c.depth), start, reads{inputs, w}, func(i *Node, s state, r reads) state {
		w := at(c.weights, r.w, i) // the backward pass begins with layer 0, which the chain inverted last
		t := c.trace(load(r.inputs, c.layer(i)), w)
		layer := c.walkBack(t, s.grads.x, w)
		return state{Add(s.iterations, t.count), cotangents{layer.x, c.add(s.grads.w, layer.w, i)}}
	})
	return out.grads, pair(out.iterations, loop.Float(v, 0))
}

// trace has the iterates with which the iterations of a solve began.
type trace struct{ iterates, count *Node }

func (c chain[W]) trace(y *Node, w W) trace {
	type state struct {
		z, residual *Node
		trace       trace
	}
	type reads struct {
		y, tolerance *Node
		w            W
	}
	start := state{y, loop.Float(y, 0), trace{stack(y, c.MaxIterations), loop.Int(y.Graph(), 0)}}
	return loop.While(start, reads{y, Mul(magnitude(y), loop.Float(y, c.Tolerance)), w},
		func(s state, r reads) *Node {
			return unfinished(s.trace.count, s.residual, r.tolerance, c.MaxIterations)
		},
		func(s state, r reads) state {
			next := Sub(r.y, apply(c.block, s.z, r.w))
			so := s.trace
			return state{next, loop.MeanAbs(Sub(next, s.z)),
				trace{store(so.iterates, s.z, so.count), plus(so.count, 1)}}
		}).trace
}

// walkBack differentiates the iterations z_k+1 = y - h(z_k), z_0 = y, of one layer.
func (c chain[W]) walkBack(t trace, v *Node, w W) cotangents {
	type state struct {
		v     *Node
		grads cotangents
	}
	type reads struct {
		trace
		w W
	}
	start := state{v, cotangents{loop.Zeros(v), zeros(trainableOf(c.weights, w))}}
	out := loop.Repeat(t.count, start, reads{t, w}, func(k *Node, s state, r reads) state {
		u, tape := c.block.Linearize(load(r.iterates, Sub(plus(r.count, -1), k)), r.w)
		q := c.block.Gate(u, s.v, r.w)
		pulled, shared := c.block.PullX(q, tape, r.w)
		s.grads.x = Add(s.grads.x, s.v)
		for p, dw := range cotangentsOf(c.weights, c.block.PullW(q, shared, tape, r.w), r.w) {
			s.grads.w[p] = Sub(s.grads.w[p], dw)
		}
		s.v = Neg(pulled)
		return s
	})
	out.grads.x = Add(out.grads.x, out.v)
	return out.grads
}
