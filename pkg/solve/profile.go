package solve

import (
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Profile inverts a chain of layers, and makes exactly the given number of iterations for each layer. Solves start from
// the right-hand side (Algorithm 1 of the paper). Profile returns the result z of the chain, and a vector of changes.
// Entry m of this vector is the mean absolute change of the iterate in iteration m, averaged over the layers. Profile
// has no gradient. The argument depth is the number of layers. All layers share their weights, unless block is made by
// [PerLayer].
func Profile(block Block, x *Node, w []*Node, depth, iterations int) (z, changes *Node) {
	c := newChain(block, w, depth, Options{})
	type state struct{ z, changes *Node }
	type reads struct {
		y *Node
		w []*Node
	}
	none := BroadcastToShape(loop.Float(x, 0), shapes.Make(x.DType(), iterations))
	start := state{StopGradient(x), none}
	out := loop.Repeat(loop.Int(x.Graph(), depth), start, stopped(w), func(i *Node, s state, w []*Node) state {
		r := reads{s.z, c.own.at(w, c.layer(i))}
		return loop.Repeat(loop.Int(i.Graph(), iterations), s, r, func(m *Node, s state, r reads) state {
			next := Sub(r.y, apply(c.block, s.z, r.w))
			change := Mul(loop.MeanAbs(Sub(next, s.z)), loop.Float(next, 1/float64(max(1, depth))))
			return state{next, put(s.changes, Add(entry(s.changes, m), change), m)}
		})
	})
	return out.z, out.changes
}
