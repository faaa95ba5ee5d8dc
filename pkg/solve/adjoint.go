package solve

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// smooth is the number of layers from which on an adjoint solve starts from the linear extrapolation 2 p - p' of the
// products that the last two solves found, and not from p alone (see [chain.pullBack]). In deep chains, adjacent layers
// differ little, and a close start matters: errors just below the tolerance add up over the layers. In shorter chains,
// the extrapolation is worse than p about as often as it is better, since ReLU may be zero in one layer and not the
// next.
const smooth = 128

// unlike estimates how much the Jacobians of adjacent layers differ, as a fraction: 2/depth, within 1/8 and 1. The next
// layer's solve, which corrects the error that a solve leaves, is taken to leave this fraction of it. It is never below
// 1/8, since what is left adds up over the layers of a deep chain.
func unlike(depth int) float64 { return min(1, max(1.0/8, 2/float64(depth))) }

// history is what the backward pass reads: the weights, and a stack of the layers' preactivations in the order in which
// the chain inverted the layers, or nil if they were not kept.
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

// handed is what one adjoint solve passes on to the next; [chain.pullBack] has the symbols.
type handed struct {
	p, slope   *Node // K^T q, and its difference from that of the solve before; slope is nil below [smooth] layers
	late, rate *Node // e, and the solve's rate of convergence (see [fixedPoint])
}

// linearised is what a layer's vector-Jacobian products need at its result z.
type linearised[W any] struct {
	u    *Node
	tape []*Node
	w    W
}

// pullBack differentiates the chain. Given the chain's result z and the cotangent v of z, it returns the cotangents of
// the chain's input and of the trainable weights. It goes through the layers, beginning with the one that the chain
// inverted last. In each layer, z is the layer's result and v is the cotangent of z. Each layer takes three steps:
//
//  1. Solve the adjoint equation λ = v - J_h(z)^T λ.
//  2. Add -(∂h/∂w)^T λ to the weights' cotangents.
//  3. Compute the layer's input z + h(z), whose cotangent is λ. This input is the result of the layer that is
//     differentiated next.
//
// If the chain kept preactivations, h(z) is computed as σ(u) from the layer's kept preactivation u. The chain computed
// the result z from the input y and the same u: z = y - σ(u). So z + σ(u) is the input y, up to rounding.
//
// The Jacobian is J_h = σ'(u) K, where K = ∂u/∂X is the Jacobian of the preactivation u, and σ'(u) multiplies entry by
// entry. The solve looks for the product p = J_h^T λ. It computes p by way of another array, q:
//
//	λ = v - p,  q = σ'(u) ∘ λ,  p = K^T q.
//
// The first q is computed from the p that the previous solve found, since p changes little from layer to layer. (Deep
// chains extrapolate p; see [smooth].) Each iteration then computes p from q, and a new q from this p. Let e be the
// change of q in the last iteration. The solve ends when the mean absolute value of e is small enough, relative to that
// of the right-hand side σ'(u) ∘ v (see [fixedPoint]).
//
// The last iteration computes p from q, and then changes q by e. To compute p from the new q would take one more
// product with K^T. pullBack saves this product, and so an iteration per layer. Therefore λ = v - p is too large by K^T
// e. The solve of the next layer subtracts its own p from this λ, and so it can correct the error: it adds e to its own
// q, so that its p contains K^T e. (Both layers have the same K, or nearly the same if K depends on X.)
//
// The weights' cotangents must count e only once. The next layer's q contains e. So this layer's part of the weights'
// cotangents is computed from the last q minus e.
//
// The last solve of the backward pass does not pass e on, since no solve follows. In chains whose layers have separate
// weights, no solve passes e on, since each layer has a different K. In such chains, all solves start from p = 0.
func (c chain[W]) pullBack(z, v *Node, h history[W]) (cotangents, *Node) {
	g := z.Graph()
	start := adjoint{z: z, v: v, iterations: loop.Int(g, 0), worst: loop.Float(z, 0), dw: zerosOf(c.weights, h.w)}
	if !c.separate() {
		start.handed = &handed{p: loop.Zeros(v), late: loop.Zeros(v), rate: loop.Float(z, 1)}
		if c.depth >= smooth {
			start.handed.slope = loop.Zeros(v)
		}
	}
	end := loop.Repeat(loop.Int(g, c.depth), start, h, func(i *Node, s adjoint, h history[W]) adjoint {
		// The chain inverted layer 0 last, and the backward pass begins with the layer that was inverted last. So step
		// i of the backward pass differentiates layer i.
		l := c.linearise(s.z, h, i)
		whole := c.block.Gate(l.u, s.v, l.w) // the value that q would have if p were 0
		if s.handed != nil {
			whole = Add(whole, s.handed.late)
		}
		size := Max(loop.MeanAbs(whole), loop.Float(s.v, 1e-30))
		left := c.left(i, s.v)
		found, end := c.solveAdjoint(l, whole, s.handed, Mul(size, loop.Float(s.v, AdjointFactor*c.Tolerance)), left)
		q := found.q
		if s.handed != nil {
			q = Sub(q, loop.Scale(found.e, left))
			s.handed = s.handed.next(found, end.rate)
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

// left is 1 if another solve follows that of layer i and can correct its error, else 0. Of v, only the type is used.
func (c chain[W]) left(i, v *Node) *Node {
	return ConvertDType(LessThan(i, loop.Int(i.Graph(), c.depth-1)), v.DType())
}

// next is what a solve passes on, after h was passed on to it.
func (h *handed) next(found dual, rate *Node) *handed {
	next := &handed{p: found.p, late: found.e, rate: rate}
	if h.slope != nil {
		next.slope = Sub(found.p, h.p)
	}
	return next
}

// dual is the state of an adjoint solve: the iterate q, its last change e, p = K^T (q - e), and what PullW can reuse.
type dual struct {
	q, e, p *Node
	shared  []*Node
}

// dualReads is what an adjoint solve reads; whole is the value that q would have if p were 0.
type dualReads[W any] struct {
	whole *Node
	layer linearised[W]
}

// solveAdjoint solves q = whole - σ'(u) ∘ K^T q. It starts from the product that the previous solve passed on, or its
// extrapolation (see [smooth]), and from q = whole if h is nil.
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
		start.q, start.e, start.p = Sub(whole, c.block.Gate(l.u, p, l.w)), h.late, h.p
		iteration.rate, iteration.least = h.rate, Sub(one, Mul(left, loop.Float(one, 1-unlike(c.depth))))
	}
	return iteration.run(start, dualReads[W]{whole, l})
}
