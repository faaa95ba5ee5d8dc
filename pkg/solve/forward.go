package solve

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// ForwardChain applies a chain of layers f(X) = X + h(X; w). The argument depth is the number of layers. The chain is
// differentiable in x and the trainable weights. All layers share their weights, unless block is made by [PerLayer].
//
// All states are kept for the backward pass if they fit into 64 MiB. Otherwise only every k-th state is kept, with k =
// ceil(sqrt(depth)), and the backward pass recomputes the states between them. This takes memory for about 2
// sqrt(depth) states, and a second evaluation of each layer (Griewank 1992; Chen et al. 2016).
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
