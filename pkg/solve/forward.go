package solve

import (
	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// ForwardChain applies f(X) = X + h(X; w) depth times and is differentiable in x and the trainable weights.
//
// Its backward pass keeps all states where they fit into 64 MiB; else every k-th, k = ceil(sqrt(depth)), and recomputes those
// between: memory of 2 sqrt(depth) states for one more evaluation per layer (Griewank 1992; Chen et al. 2016).
func ForwardChain(block Block, x *Node, w []*Node, depth int) *Node {
	if depth <= 0 {
		return x
	}
	s := steps{trainable: block.Trainable(), segment: segmentOf(x, depth),
		advance: func(_, x *Node, w []*Node) *Node { return Add(x, apply(block, x, w)) },
		pull: func(_, x, v *Node, _, w []*Node) (grads, scratch []*Node) {
			u, tape := block.Linearize(x, w)
			q := block.Gate(u, v, w)
			dx, shared := block.PullX(q, tape, w)
			return append([]*Node{Add(v, dx)}, block.PullW(q, shared, tape, w)...), nil
		},
	}
	return Reshape(s.run(x, w, depth), x.Shape().Dimensions...)
}

// stack is room for count states of x's shape.
func stack(x *Node, count int) *Node {
	return BroadcastToShape(loop.Float(x, 0), shapes.Make(x.DType(), append([]int{count}, x.Shape().Dimensions...)...))
}

// store puts x at place i. The pure-Go backend has no dynamic slices: there a mask over all places does it.
func store(stack, x, i *Node) *Node {
	g := i.Graph()
	dims := stack.Shape().Dimensions
	x = Reshape(x, 1, dims[1], dims[2])
	if dynamic(stack) {
		zero := loop.Int(g, 0)
		return DynamicUpdateSlice(stack, x, []*Node{i, zero, zero})
	}
	return put(stack, x, i)
}

// load is what is at place i.
func load(stack, i *Node) *Node {
	dims := stack.Shape().Dimensions
	if dynamic(stack) {
		zero := loop.Int(i.Graph(), 0)
		return Reshape(DynamicSlice(stack, []*Node{i, zero, zero}, []int{1, dims[1], dims[2]}), dims[1:]...)
	}
	return Reshape(Gather(stack, Reshape(i, 1, 1)), dims[1:]...)
}

// dynamic tells whether x's engine has slices at places that are computed.
func dynamic(x *Node) bool {
	has := x.Graph().Backend().Capabilities().Operations
	return has[compute.OpTypeDynamicUpdateSlice] && has[compute.OpTypeDynamicSlice]
}
