package solve

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// Forward applies depth layers f(X) = X + h(X; w), whose weights are the same unless the layer is made by [PerLayer].
// The result is differentiable in x and in the trainable weights.
//
// All states are kept for the backward pass if they fit into 64 MiB, else about 2 sqrt(depth) of them, and the others
// are computed again (Griewank 1992; Chen et al. 2016).
func Forward[W any](l Layer[W], x *Node, w W, depth int) *Node {
	if depth <= 0 {
		return x
	}
	one, trainable, known := weightsOf(l, w, depth)
	s := steps[W]{segment: segmentOf(x, depth),
		advance: func(i, x *Node, w W) *Node { return Add(x, apply(one, x, at(known, w, i))) },
		pull: func(i, x, v, _ *Node, w W) (cotangents, *Node) {
			w = at(known, w, i)
			u, tape := one.Linearize(x, w)
			q := one.Gate(u, v, w)
			dx, shared := one.PullX(q, tape, w)
			return cotangents{Add(v, dx), cotangentsOf(known, one.PullW(q, shared, tape, w), w)}, nil
		},
		add: known.add,
	}
	return element(s.run(x, trainable, stopped(w), depth), 0)
}
