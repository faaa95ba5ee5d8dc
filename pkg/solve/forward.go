package solve

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// ForwardChain applies f(X) = X + h(X; w) depth times and is differentiable in x and the trainable weights, which all
// layers share unless block is made by [PerLayer].
//
// The backward pass keeps all states where they fit into 64 MiB. Otherwise it keeps every k-th state, k =
// ceil(sqrt(depth)), and recomputes those between: memory of 2 sqrt(depth) states for one more evaluation per layer
// (Griewank 1992; Chen et al. 2016).
func ForwardChain(block Block, x *Node, w []*Node, depth int) *Node {
	if depth <= 0 {
		return x
	}
	b, own := layered(block)
	own.check(w, depth)
	s := steps[[]*Node]{segment: segmentOf(x, depth),
		advance: func(i, x *Node, w []*Node) *Node { return Add(x, apply(b, x, own.at(w, i))) },
		pull: func(i, x, v, _ *Node, w []*Node) (cotangents, *Node) {
			w = own.at(w, i)
			u, tape := b.Linearize(x, w)
			q := b.Gate(u, v, w)
			dx, shared := b.PullX(q, tape, w)
			return cotangents{Add(v, dx), b.PullW(q, shared, tape, w)}, nil
		},
		add: own.add,
	}
	return element(s.run(x, w[:b.Trainable()], stopped(w), depth), 0)
}
