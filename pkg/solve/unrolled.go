package solve

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// unrolledBack differentiates the iterations of all layers. It repeats the solve of each layer from the layer's input,
// and keeps the iterates of one layer at a time.
func (c chain[W]) unrolledBack(v, inputs *Node, w W) (cotangents, *Node) {
	type state struct {
		iterations *Node
		grads      cotangents
	}
	type reads struct {
		inputs *Node
		w      W
	}
	start := state{loop.Int(v.Graph(), 0), cotangents{v, zerosOf(c.weights, w)}}
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

// trace repeats a solve and keeps its iterates.
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

// walkBack differentiates the iterations z_k+1 = y - h(z_k), z_0 = y, of one layer, given the cotangent of the last. It
// returns the cotangents of y and of the weights.
func (c chain[W]) walkBack(t trace, v *Node, w W) cotangents {
	type state struct {
		v     *Node
		grads cotangents
	}
	type reads struct {
		trace
		w W
	}
	start := state{v, cotangents{loop.Zeros(v), zerosOf(c.weights, w)}}
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
