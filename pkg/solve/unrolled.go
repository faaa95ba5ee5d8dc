package solve

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// ReverseChainUnrolled is [ReverseChain] with the gradient of the iterations instead of that of the fixed point: the exact
// derivative of what was computed, as automatic differentiation through the authors' code gives it, also where a solve was
// cut short. Solves start from the right-hand side, whatever o.Order.
//
// It keeps the input of every layer and, one layer at a time, recomputes and keeps the iterates: memory of
// depth + o.MaxIterations states (automatic differentiation keeps about twice depth x iterations).
func ReverseChainUnrolled(block Block, x *Node, w []*Node, depth int, o Options) (*Node, *Stats) {
	o.Order = 0
	if depth <= 0 {
		return ReverseChain(block, x, w, depth, o)
	}
	trainable := block.Trainable()
	fixed := stopped(w)
	z, stacks, stats := invert(block, StopGradient(x), fixed, depth, o, 0, true)
	inputs := stacks[0]
	y := Custom(z, append([]*Node{x}, w[:trainable]...), func(v *Node) []*Node {
		g := v.Graph()
		state := append([]*Node{loop.Int(g, 0), v}, zeros(fixed[:trainable])...)
		out := loop.Repeat(loop.Int(g, depth), state, append([]*Node{inputs}, fixed...), func(layer *Node, state, reads []*Node) []*Node {
			inputs, w := reads[0], reads[1:]
			y := load(inputs, Sub(loop.Int(layer.Graph(), depth-1), layer))
			iterates, count := iterate(block, y, w, o)
			// z_k+1 = y - h(z_k), z_0 = y: walk back through the iterates, collecting y's cotangent on the way.
			zero := loop.Zeros(y)
			walk := loop.Repeat(count, append([]*Node{zero}, state[1:]...), append([]*Node{iterates, count}, w...),
				func(k *Node, state, reads []*Node) []*Node {
					iterates, count, w := reads[0], reads[1], reads[2:]
					dy, v, grads := state[0], state[1], state[2:]
					u, tape := block.Linearize(load(iterates, Sub(plus(count, -1), k)), w)
					q := block.Gate(u, v, w)
					pulled, shared := block.PullX(q, tape, w)
					next := []*Node{Add(dy, v), Sub(loop.Zeros(pulled), pulled)}
					for p, dw := range block.PullW(q, shared, tape, w) {
						next = append(next, Sub(grads[p], dw))
					}
					return next
				})
			return append([]*Node{Add(state[0], count), Add(walk[0], walk[1])}, walk[2:]...)
		})
		stats.AdjointIterations, stats.AdjointResidual = out[0], loop.Float(v, 0)
		return out[1:]
	})
	return y, stats
}

// iterate solves one layer again and keeps the iterates before each step, and how many steps there were.
func iterate(block Block, y *Node, w []*Node, o Options) (iterates, count *Node) {
	g := y.Graph()
	state := []*Node{y, loop.Int(g, 0), loop.Float(y, 0), stack(y, o.MaxIterations)}
	tolerance := Mul(magnitude(y), loop.Float(y, o.Tolerance))
	out := loop.While(state, append([]*Node{y, tolerance}, w...),
		func(s, fixed []*Node) *Node {
			return unfinished(s[1], s[2], fixed[1], o.MaxIterations)
		},
		func(s, fixed []*Node) []*Node {
			next := Sub(fixed[0], apply(block, s[0], fixed[2:]))
			return []*Node{next, plus(s[1], 1), loop.MeanAbs(Sub(next, s[0])), store(s[3], s[0], s[1])}
		})
	return out[3], out[1]
}
