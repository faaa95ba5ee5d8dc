package solve

import (
	"math"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// ForwardChain applies f(X) = X + h(X; w) depth times and is differentiable in x and the trainable weights.
//
// Its backward pass keeps every k-th state, k = ceil(sqrt(depth)), and recomputes those between: memory of 2 sqrt(depth)
// states for one more evaluation per layer (Griewank 1992; Chen et al. 2016).
func ForwardChain(block Block, x *Node, w []*Node, depth int) *Node {
	if depth <= 0 {
		return x
	}
	segment := int(math.Ceil(math.Sqrt(float64(depth))))
	count := (depth + segment - 1) / segment
	trainable := block.Trainable()
	fixed := stopped(w)

	// kept[s] is the state before layer s*segment.
	start := StopGradient(x)
	out := loop.Repeat(loop.Int(x.Graph(), count), []*Node{start, stack(start, count)}, fixed,
		func(s *Node, state, w []*Node) []*Node {
			kept := store(state[1], state[0], s)
			y := loop.Repeat(layersOf(s, segment, depth), []*Node{state[0]}, w,
				func(_ *Node, state, w []*Node) []*Node { return []*Node{Add(state[0], block.Apply(state[0], w))} })
			return []*Node{y[0], kept}
		})
	y, kept := out[0], out[1]

	return custom(y, append([]*Node{x}, w[:trainable]...), func(v *Node) []*Node {
		g := v.Graph()
		state := []*Node{v}
		for _, p := range fixed[:trainable] {
			state = append(state, loop.Zeros(p))
		}
		reads := append([]*Node{kept}, fixed...)
		return loop.Repeat(loop.Int(g, count), state, reads, func(i *Node, state, reads []*Node) []*Node {
			g := i.Graph()
			kept, w := reads[0], reads[1:]
			s := Sub(loop.Int(g, count-1), i)
			layers := layersOf(s, segment, depth)
			first := load(kept, s)
			inside := loop.Repeat(layers, []*Node{first, stack(first, segment)}, w,
				func(k *Node, state, w []*Node) []*Node {
					// The last state of the segment would not be used: the loop stops one evaluation later than
					// needed, which keeps it one loop.
					return []*Node{Add(state[0], block.Apply(state[0], w)), store(state[1], state[0], k)}
				})
			return loop.Repeat(layers, state, append([]*Node{inside[1], layers}, w...),
				func(k *Node, state, reads []*Node) []*Node {
					states, layers, w := reads[0], reads[1], reads[2:]
					v := state[0]
					_, tape := block.Linearize(load(states, Sub(Sub(layers, loop.Int(k.Graph(), 1)), k)), w)
					next := []*Node{Add(v, block.PullX(v, tape, w))}
					for p, dw := range block.PullW(v, tape, w) {
						next = append(next, Add(state[1+p], dw))
					}
					return next
				})
		})
	})
}

// layersOf is the number of layers in segment s.
func layersOf(s *Node, segment, depth int) *Node {
	g := s.Graph()
	return Min(loop.Int(g, segment), Sub(loop.Int(g, depth), Mul(s, loop.Int(g, segment))))
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
	if g.Backend().Capabilities().Operations[compute.OpTypeDynamicUpdateSlice] {
		zero := loop.Int(g, 0)
		return DynamicUpdateSlice(stack, x, []*Node{i, zero, zero})
	}
	here := Equal(Iota(g, shapes.Make(dtypes.Int32, dims...), 0), BroadcastToDims(i, dims...))
	return Where(here, BroadcastToDims(x, dims...), stack)
}

func load(stack, i *Node) *Node {
	return Reshape(Gather(stack, Reshape(i, 1, 1)), stack.Shape().Dimensions[1:]...)
}
