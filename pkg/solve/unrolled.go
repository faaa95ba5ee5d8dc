package solve

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/gradient"
	"github.com/revgnn/revgnn/pkg/loop"
)

// ReverseChainUnrolled is [ReverseChain] with another gradient. It differentiates the iterations themselves, as the
// automatic differentiation in the authors' code does. (ReverseChain differentiates the equation Z = Y - h(Z).) The
// gradient is the exact derivative of the computation, also where a solve stopped before it converged. Solves start
// from the right-hand side; o.Order is ignored.
//
// The forward pass keeps the input of every layer. The backward pass recomputes the iterates of one layer at a time,
// and keeps them while it works on this layer. So the memory is that of depth + o.MaxIterations states, where depth is
// the number of layers. (Automatic differentiation keeps about two states for every iteration of every layer.)
func ReverseChainUnrolled(block Block, x *Node, w []*Node, depth int, o Options) (*Node, *Stats) {
	o.Order = 0
	if depth <= 0 {
		return ReverseChain(block, x, w, depth, o)
	}
	c := newChain(block, w, depth, o)
	trainable, fixed := block.Trainable(), stopped(w)
	end, stats := c.invert(StopGradient(x), fixed, 0, true)
	type state struct {
		iterations *Node
		grads      cotangents
	}
	type reads struct {
		inputs *Node
		w      []*Node
	}
	y := gradient.Custom(end.z, append([]*Node{x}, w[:trainable]...), func(v *Node) []*Node {
		start := state{loop.Int(v.Graph(), 0), cotangents{v, zeros(fixed[:trainable])}}
		all := reads{end.inputs, fixed}
		out := loop.Repeat(loop.Int(v.Graph(), depth), start, all, func(i *Node, s state, r reads) state {
			w := c.own.at(r.w, i) // the backward pass begins with layer 0, which the chain inverted last
			t := c.trace(load(r.inputs, c.layer(i)), w)
			layer := c.walkBack(t, s.grads.x, w)
			return state{Add(s.iterations, t.count), cotangents{layer.x, c.own.add(s.grads.w, layer.w, i)}}
		})
		stats.AdjointIterations, stats.AdjointResidual = out.iterations, loop.Float(v, 0)
		return append([]*Node{out.grads.x}, out.grads.w...)
	})
	return y, stats
}

// trace holds the iterations of one solve: count is their number, and the stack iterates holds the iterate with which
// each iteration began.
type trace struct{ iterates, count *Node }

// trace repeats the solve of Z = Y - h(Z) that the forward pass made for a layer, and keeps the iterates. The argument
// y is the right-hand side Y.
func (c chain) trace(y *Node, w []*Node) trace {
	type state struct {
		z, residual *Node
		trace       trace
	}
	type reads struct {
		y, tolerance *Node
		w            []*Node
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

// walkBack differentiates the iterations of one layer, from the last to the first. The iterations are
// z_k+1 = y - h(z_k), beginning with z_0 = y. Given the cotangent v of the last iterate, walkBack returns the
// cotangents of y and of the layer's weights.
func (c chain) walkBack(t trace, v *Node, w []*Node) cotangents {
	type state struct {
		v     *Node
		grads cotangents
	}
	type reads struct {
		trace
		w []*Node
	}
	start := state{v, cotangents{loop.Zeros(v), zeros(w[:c.block.Trainable()])}}
	out := loop.Repeat(t.count, start, reads{t, w}, func(k *Node, s state, r reads) state {
		u, tape := c.block.Linearize(load(r.iterates, Sub(plus(r.count, -1), k)), r.w)
		q := c.block.Gate(u, s.v, r.w)
		pulled, shared := c.block.PullX(q, tape, r.w)
		s.grads.x = Add(s.grads.x, s.v)
		for p, dw := range c.block.PullW(q, shared, tape, r.w) {
			s.grads.w[p] = Sub(s.grads.w[p], dw)
		}
		s.v = Neg(pulled)
		return s
	})
	out.grads.x = Add(out.grads.x, out.v)
	return out.grads
}
