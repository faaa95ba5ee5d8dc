package solve

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// smooth is the smallest depth of chains whose adjoint solves start from a linear extrapolation of the last two layers'
// values of p (see [chain.pullBack]), instead of the last layer's value alone. In deep chains adjacent layers differ so
// little that the extrapolated start is closer to the solution. A close start matters there, since errors just below
// the tolerance add up over the layers. In shorter chains the extrapolated start is as often worse as better, since
// activations may switch on or off from one layer to the next.
const smooth = 128

// unlike estimates the relative difference between the Jacobians of two adjacent layers: 2/depth, but at least 1/8 and
// at most 1. It is at least 1/8 since the errors that are left in each layer add up over a deep chain.
func unlike(depth int) float64 { return min(1, max(1.0/8, 2/float64(depth))) }

// history is what the backward pass of a chain reads: the weights, and the preactivations of all steps or, if they were
// not kept, nil.
type history struct {
	w              []*Node
	preactivations *Node
}

// adjoint is the loop state of the backward pass.
type adjoint struct {
	// z is the result of the layer that is differentiated next, and v is the cotangent of z.
	z, v *Node
	// handed is what the last adjoint solve passes to the next one. It is nil if layers have separate weights.
	handed *handed
	// iterations is the number of iterations of all solves so far, and worst is their largest residual.
	iterations, worst *Node
	// dw are the cotangents of the weights with the opposite sign, summed over the layers so far.
	dw []*Node
}

// handed is what one layer's adjoint solve passes to the next layer's solve. [chain.pullBack] explains the symbols.
type handed struct {
	// p is K^T q, and slope is its difference from the p of the solve before. slope is nil in chains with less than
	// [smooth] layers.
	p, slope *Node
	// late is e, the last change of q, which has not been multiplied by K^T yet. rate is the solve's rate of
	// convergence.
	late, rate *Node
}

// linearised is what is needed of a layer to multiply by its Jacobian J_h = σ'(u) K at its result z: the preactivation
// u, the tape of K (see [Block]), and the weights.
type linearised struct {
	u       *Node
	tape, w []*Node
}

// pullBack differentiates the chain: given the chain's result z and the cotangent v of z, it returns the cotangents of
// the chain's input and of the trainable weights. It goes through the layers, beginning with the one that the chain
// inverted last. In each layer it solves the adjoint equation λ = v - J_h(z)^T λ, adds -(∂h/∂w)^T λ to the weights'
// cotangents, and goes on with the layer's input z + h(z), whose cotangent is λ. If preactivations were kept, h(z) is
// computed from the kept preactivation. This is the preactivation of the second-last iterate of the layer's solve, from
// which the last iterate z was computed. So the input is recovered up to rounding.
//
// The Jacobian is J_h = σ' K with K = ∂u/∂X. The solve iterates q = σ' ∘ λ, where λ = v - p and p = K^T q. It starts
// from the p of the previous solve, which is close to the solution, or in deep chains from a linear extrapolation of
// the last two p. The residual is the mean absolute value of the last change e of q, divided by that of the right-hand
// side σ' ∘ v.
//
// The last change e is not multiplied by K^T in its own layer, which leaves an error of about -K^T e in λ. Instead, e
// is added to q in the next layer's solve, which multiplies q by the same K^T (or, if K depends on X, by nearly the
// same). This saves an iteration per layer. The weights' cotangents are computed from q without e, since e is part of
// the next layer's q. Two kinds of solves pass nothing on: the last solve of the backward pass, and all solves of
// chains whose layers have separate weights, since their K differ.
func (c chain) pullBack(z, v *Node, h history, stats *Stats) []*Node {
	g := z.Graph()
	start := adjoint{z: z, v: v, iterations: loop.Int(g, 0), worst: loop.Float(z, 0),
		dw: zeros(h.w[:c.block.Trainable()])}
	if len(c.own) == 0 {
		start.handed = &handed{p: loop.Zeros(v), late: loop.Zeros(v), rate: loop.Float(z, 1)}
		if c.depth >= smooth {
			start.handed.slope = loop.Zeros(v)
		}
	}
	end := loop.Repeat(loop.Int(g, c.depth), start, h, func(i *Node, s adjoint, h history) adjoint {
		// Step i of the backward pass belongs to layer i, since the chain's last step inverted layer 0.
		l := c.linearise(s.z, h, i)
		whole := c.block.Gate(l.u, s.v, l.w) // q for p = 0
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
		s.dw = c.own.add(s.dw, c.block.PullW(q, found.shared, l.tape, l.w), i)
		return s
	})
	stats.AdjointIterations, stats.AdjointResidual = end.iterations, end.worst
	out := []*Node{end.v}
	for _, dw := range end.dw {
		out = append(out, Neg(dw))
	}
	return out
}

// linearise linearises layer i at z. If preactivations were kept, it uses the one of the chain's step depth-1-i, which
// inverted layer i, instead of computing it at z.
func (c chain) linearise(z *Node, h history, i *Node) linearised {
	w := c.own.at(h.w, i)
	if h.preactivations == nil {
		u, tape := c.block.Linearize(z, w)
		return linearised{u, tape, w}
	}
	return linearised{load(h.preactivations, c.layer(i)), c.block.(Taper).Tape(z, w), w}
}

// left is 1 if layer i's solve passes its last change on to the next solve, and 0 in the last layer of the backward
// pass.
func (c chain) left(i, v *Node) *Node {
	return ConvertDType(LessThan(i, loop.Int(i.Graph(), c.depth-1)), v.DType())
}

// next is what a solve passes on to the next one. found is the solve's last state, and rate its rate of convergence.
func (h *handed) next(found dual, rate *Node) *handed {
	next := &handed{p: found.p, late: found.e, rate: rate}
	if h.slope != nil {
		next.slope = Sub(found.p, h.p)
	}
	return next
}

// dual is the state of an adjoint solve: q, the last change e of q, p = K^T q for the q before this change, and shared,
// the results in the computation of p that PullW can reuse.
type dual struct {
	q, e, p *Node
	shared  []*Node
}

// dualReads is what an adjoint solve reads but does not change: whole, which is q for p = 0, and the layer.
type dualReads struct {
	whole *Node
	layer linearised
}

// solveAdjoint solves q = whole - σ' ∘ K^T q. If h is not nil, it starts from h, which the previous solve passed on.
func (c chain) solveAdjoint(l linearised, whole *Node, h *handed, tolerance, left *Node) (dual, end) {
	one := loop.Float(whole, 1)
	iteration := fixedPoint[dual, dualReads]{limit: c.AdjointIterations, tolerance: tolerance,
		linear: true, rate: one, least: one}
	if iteration.limit <= 0 {
		iteration.limit = c.MaxIterations
	}
	iteration.step = func(s dual, r dualReads) (dual, *Node) {
		p, shared := c.block.PullX(s.q, r.layer.tape, r.layer.w)
		e := Sub(Sub(r.whole, c.block.Gate(r.layer.u, p, r.layer.w)), s.q)
		change := loop.MeanAbs(e)
		return dual{Add(loop.After(change, s.q), e), e, p, shared}, change
	}
	_, shared := c.block.PullX(whole, l.tape, l.w) // only its shapes are used, and engines drop unused values
	start := dual{q: whole, e: loop.Zeros(whole), p: loop.Zeros(whole), shared: zeros(shared)}
	if h != nil {
		p := h.p
		if h.slope != nil {
			p = Add(p, h.slope)
		}
		start.q, start.e, start.p = Sub(whole, c.block.Gate(l.u, p, l.w)), h.late, h.p
		iteration.rate, iteration.least = h.rate, Sub(one, Mul(left, loop.Float(one, 1-unlike(c.depth))))
	}
	return iteration.run(start, dualReads{whole, l})
}
