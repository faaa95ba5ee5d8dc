package solve

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// smooth is the depth from which on adjoint solves start from a line. Layers then differ so little from each other
// that it is nearer, and errors just below the tolerance would add up over the chain. In shorter chains, entries
// whose activation sets in between two layers make it worse as often as better.
const smooth = 128

// unlike is by how much neighbouring layers of a chain are taken to differ, of the whole that they are to differ by:
// by 2/depth, and no less than an eighth, since what is left from layer to layer adds up over a deep chain.
func unlike(depth int) float64 { return min(1, max(1.0/8, 2/float64(depth))) }

// history is what the way back through a chain reads: the weights, and the preactivations of all steps, if they were
// kept.
type history struct {
	w              []*Node
	preactivations *Node
}

// adjoint is the state of the way back.
type adjoint struct {
	// z is a step's result, and v its cotangent.
	z, v *Node
	// handed is what the solves hand on to each other, nil where layers have weights of their own.
	handed *handed
	// iterations of all solves, and the largest residual.
	iterations, worst *Node
	// dw are the weights' cotangents so far, of the opposite sign.
	dw []*Node
}

// handed is what one adjoint solve hands on to the next.
type handed struct {
	// p is K^T q, and slope by how much it differs from that of the solve before, nil in chains that are not [smooth].
	p, slope *Node
	// late is the last change of q, which K^T has not multiplied, and rate that of the solve's convergence.
	late, rate *Node
}

// linearised is a layer at its result z, where J_h = σ' K: its preactivation, the tape of K, and the layer's weights.
type linearised struct {
	u       *Node
	tape, w []*Node
}

// pullBack walks the chain from its end z, for the cotangent v, and returns those of the chain's input and of the
// trainable weights. In each layer it solves λ = v - J_h(z)^T λ, collects the weights' cotangents -(∂h/∂w)^T λ, and
// steps to the layer's input z + h(z). With the preactivations of all layers' last iterates but one, in place of
// u(z), that input is what z was made of, to the last digit.
//
// With J_h = σ' K, K = ∂u/∂X, the iterate is q = σ' ∘ λ, for λ = v - p and p = K^T q. p starts from that of the layer
// before, which is near, or in deep chains from a line through those of the last two. The last change e of q,
// relative to σ' ∘ v, is the residual.
//
// e is not multiplied by K^T any more in its own layer, which leaves an error of about -K^T e in λ: it is added to q
// in the layer that comes next, whose K is the same, or nearly so if it depends on X. A layer so takes an iteration
// less. The weights' cotangents come from the q that were multiplied: over the chain, what one layer leaves out the
// next one has. The last layer is solved as if it were alone, and so are all layers where K differs, having weights
// of its own: they hand nothing on.
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
		// The chain's last step inverted layer 0, which has slice 0 of the weights.
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

// linearise linearises layer number i at z; its preactivation is that of the chain's step
// depth-1-i, if they were kept.
func (c chain) linearise(z *Node, h history, i *Node) linearised {
	w := c.own.at(h.w, i)
	if h.preactivations == nil {
		u, tape := c.block.Linearize(z, w)
		return linearised{u, tape, w}
	}
	return linearised{load(h.preactivations, c.layer(i)), c.block.(Taper).Tape(z, w), w}
}

// left is the part of its last change that the solve of layer i hands on: 1, in the last layer on the way back 0.
func (c chain) left(i, v *Node) *Node {
	return ConvertDType(LessThan(i, loop.Int(i.Graph(), c.depth-1)), v.DType())
}

// next is what a solve hands on that ended with found.
func (h *handed) next(found dual, rate *Node) *handed {
	next := &handed{p: found.p, late: found.e, rate: rate}
	if h.slope != nil {
		next.slope = Sub(found.p, h.p)
	}
	return next
}

// dual is the state of an adjoint solve: q, its last change e, and p = K^T q of the q before it, with what of its
// computation PullW can use.
type dual struct {
	q, e, p *Node
	shared  []*Node
}

// dualReads is what an adjoint solve reads: q for p = 0, and the layer.
type dualReads struct {
	whole *Node
	layer linearised
}

// solveAdjoint solves q = whole - σ' ∘ K^T q, starting from what the solve before handed on, if it did.
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
	_, shared := c.block.PullX(whole, l.tape, l.w) // for its shapes only: engines leave out what is not used
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
