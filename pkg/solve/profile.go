package solve

import (
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Profile inverts depth layers, with exactly the given number of iterations for each, which start from the right-hand
// side (Algorithm 1 of the paper). Entry m of the vector changes is the mean absolute change in iteration m, averaged
// over the layers. Profile has no gradient.
func Profile[W any](l Layer[W], x *Node, w W, depth, iterations int) (z, changes *Node) {
	one, _, known := weightsOf(l, w, depth)
	c := chain[W]{Options{}, one, known, depth}
	type state struct{ z, changes *Node }
	type reads struct {
		y *Node
		w W
	}
	none := BroadcastToShape(loop.Float(x, 0), shapes.Make(x.DType(), iterations))
	start := state{StopGradient(x), none}
	out := loop.Repeat(loop.Int(x.Graph(), depth), start, stopped(w), func(i *Node, s state, w W) state {
		r := reads{s.z, at(known, w, c.layer(i))}
		return loop.Repeat(loop.Int(i.Graph(), iterations), s, r, func(m *Node, s state, r reads) state {
			next := Sub(r.y, apply(one, s.z, r.w))
			change := Mul(loop.MeanAbs(Sub(next, s.z)), loop.Float(next, 1/float64(max(1, depth))))
			return state{next, put(s.changes, Add(entry(s.changes, m), change), m)}
		})
	})
	return out.z, out.changes
}
