package solve

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// smooth is a number of layers. It decides where adjoint solves start; [chain.pullBack] explains the array p. In chains
// of at least so many layers, the start is a linear extrapolation of the p of the two solves before. In shorter chains,
// it is the p of the solve before.
//
// In deep chains adjacent layers differ so little that the extrapolation is closer to the solution. A close start
// matters there, since errors just below the tolerance add up over the layers. In shorter chains the extrapolation is
// as often worse as better, since an activation such as ReLU may be zero in one layer and not in the next.
const smooth = 128

// unlike estimates by which fraction the Jacobians of two adjacent layers differ: 2/depth, but at least 1/8 and at most
// 1. The next layer corrects the error of an adjoint solve, but by its own Jacobian (see [chain.pullBack]). So this
// fraction of the error is assumed to be left. With a smaller fraction, solves would end earlier. The fraction is at
// least 1/8, since the errors that are left add up over the layers of a deep chain.
func unlike(depth int) float64 { return min(1, max(1.0/8, 2/float64(depth))) }

// history is what the backward pass of a chain reads: the weights, and a stack of the layers' preactivations, in the
// order in which the chain inverted the layers. The stack is nil if the chain did not keep preactivations.
type history struct {
	w              []*Node
	preactivations *Node
}

// adjoint is the state of the loop over the layers in the backward pass.
type adjoint struct {
	// z is the result of the layer that is to be differentiated, and v is the cotangent of z.
	z, v *Node
	// handed is what the last adjoint solve passes on to the next one. It is nil if layers have separate weights.
	handed *handed
	// iterations is the number of iterations of all adjoint solves so far, and worst is the largest residual of these
	// solves.
	iterations, worst *Node
	// dw are the cotangents of the weights, multiplied by -1 and summed over the layers so far.
	dw []*Node
}

// handed is what the adjoint solve of one layer passes on to the solve of the next layer. [chain.pullBack] explains the
// symbols p, q, e and K.
type handed struct {
	// p is K^T q. slope is the difference between this p and the p of the solve before. (The slope of a field is
	// something else.) In chains with fewer than [smooth] layers, slope is nil.
	p, slope *Node
	// late is e, the change of q in the last iteration. rate is the rate of convergence of the solve (see
	// [fixedPoint]).
	late, rate *Node
}

// linearised has what is needed to multiply by the Jacobian J_h = σ'(u) K of a layer at the layer's result z. u is the
// preactivation, and K is the Jacobian of u (see [chain.pullBack]). tape is the tape of u (see [Block]), and w are the
// layer's weights.
type linearised struct {
	u       *Node
	tape, w []*Node
}

// pullBack differentiates the chain: given the chain's result z and the cotangent v of z, it returns the cotangents of
// the chain's input and of the trainable weights. It goes through the layers, beginning with the one that the chain
// inverted last. In each layer it solves the adjoint equation λ = v - J_h(z)^T λ, and adds -(∂h/∂w)^T λ to the weights'
// cotangents. It then computes the layer's input z + h(z), whose cotangent is λ. This input is the result of the layer
// that is differentiated next.
//
// If the chain kept preactivations, h(z) is computed from the layer's kept preactivation. The chain had computed z from
// the same preactivation. So the layer's input z + h(z) is recovered up to rounding.
//
// The Jacobian is J_h = σ'(u) K, where K = ∂u/∂X is the Jacobian of the preactivation u, and σ'(u) multiplies entry by
// entry. The solve looks for two arrays, q and p, which are related to λ by
//
//	λ = v - p,  q = σ'(u) ∘ λ,  p = K^T q.
//
// Before the first iteration, q is computed from the p of the previous solve, which is close to this solve's p. (In
// deep chains, q is computed from a linear extrapolation of the p of the two previous solves.) Each iteration then
// computes p from q, and a new q from this p. Let e be the change of q in the last iteration. The solve ends when the
// mean absolute value of e is small enough, relative to that of the right-hand side σ'(u) ∘ v (see [fixedPoint]).
//
// No p is computed from the last q, since this would take one more product with K^T. The last p was computed from the q
// of the iteration before, which is the last q minus e. So λ = v - p is too large by K^T e. The solve of the next layer
// corrects this error: it adds e to its own q, and multiplies the sum by its own K^T, which is the same (or nearly the
// same, if K depends on X). This saves an iteration per layer. Each layer adds to the weights' cotangents a part that
// is computed from its q. As e is now in the next layer's q, it must not be counted in this layer's part. So this part
// is computed from the last q minus e.
//
// Some solves do not pass e on. The last solve of the backward pass does not, since no solve follows. In chains whose
// layers have separate weights, no solve does, since each layer has a different K. There, all solves start from p = 0.
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
		// Step i of the backward pass differentiates layer i, since the chain inverted layer 0 last.
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

// linearise prepares multiplications by the Jacobian of layer i at z. Layer i was inverted by step depth-1-i of the
// chain. If preactivations were kept, u is the preactivation that this step kept. Otherwise u is computed at z.
func (c chain) linearise(z *Node, h history, i *Node) linearised {
	w := c.own.at(h.w, i)
	if h.preactivations == nil {
		u, tape := c.block.Linearize(z, w)
		return linearised{u, tape, w}
	}
	return linearised{load(h.preactivations, c.layer(i)), c.block.(Taper).Tape(z, w), w}
}

// left is 1 if the solve of layer i passes its last change e on to the next solve (see [chain.pullBack]). It is 0 in
// the last layer of the backward pass, since no solve follows there. Of v, only the data type is used.
func (c chain) left(i, v *Node) *Node {
	return ConvertDType(LessThan(i, loop.Int(i.Graph(), c.depth-1)), v.DType())
}

// next is what a solve passes on to the next solve. found is the last state of the solve, and rate is its rate of
// convergence. h is what the solve before passed on to this solve.
func (h *handed) next(found dual, rate *Node) *handed {
	next := &handed{p: found.p, late: found.e, rate: rate}
	if h.slope != nil {
		next.slope = Sub(found.p, h.p)
	}
	return next
}

// dual is the state of an adjoint solve; [chain.pullBack] explains q, p and e. e is the last change of q, and p is K^T
// times the q before this change. shared are intermediate results of the computation of p that [Block].PullW can reuse.
type dual struct {
	q, e, p *Node
	shared  []*Node
}

// dualReads is what an adjoint solve reads but does not change. whole is the value that q would have if p were 0.
type dualReads struct {
	whole *Node
	layer linearised
}

// solveAdjoint finds the q of a layer by fixed-point iteration. q is the solution of
//
//	q = whole - σ'(u) ∘ K^T q,
//
// where K is the Jacobian of the preactivation u ([chain.pullBack] explains q and K). whole is the value that q would
// have if K^T q were 0. h is what the previous solve passed on, and the iteration starts from h. If h is nil, the
// iteration starts from whole. left is 1 if the next solve corrects the error of this solve, and 0 otherwise.
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
	return iteration.run(start, dualReads{whole, l})
}
