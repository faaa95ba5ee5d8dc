package solve

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Profile inverts depth layers with exactly the given number of iterations each, from the right-hand side as start
// (Algorithm 1 of the paper), and returns the result and, for every iteration, the mean absolute change of the iterate,
// averaged over the layers: [iterations]. It has no gradient.
func Profile(block Block, x *Node, w []*Node, depth, iterations int) (z, changes *Node) {
	g := x.Graph()
	none := BroadcastToShape(loop.Float(x, 0), shapes.Make(x.DType(), iterations))
	out := loop.Repeat(loop.Int(g, depth), []*Node{StopGradient(x), none}, stopped(w), func(_ *Node, state, w []*Node) []*Node {
		y, changes := state[0], state[1]
		inner := loop.Repeat(loop.Int(y.Graph(), iterations), []*Node{y, changes}, append([]*Node{y}, w...),
			func(m *Node, state, reads []*Node) []*Node {
				next := Sub(reads[0], apply(block, state[0], reads[1:]))
				here := Equal(Iota(next.Graph(), shapes.Make(dtypes.Int32, iterations), 0), loop.Like(m, state[1]))
				change := Mul(loop.MeanAbs(Sub(next, state[0])), loop.Float(next, 1/float64(max(1, depth))))
				return []*Node{next, Add(state[1], Where(here, loop.Like(change, state[1]), loop.Zeros(state[1])))}
			})
		return inner
	})
	return out[0], out[1]
}
