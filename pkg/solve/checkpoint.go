package solve

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// steps is a sequence of states x_i+1 = advance(i, x_i; w) whose backward pass keeps every segment-th state and recomputes
// those between: memory of 2 sqrt(steps) states for one more advance per step (Griewank 1992; Chen et al. 2016).
type steps struct {
	trainable int
	segment   int
	advance   func(i, x *Node, w []*Node) *Node
	// pull gives the cotangents of x_i and of the trainable weights for the cotangent v of x_i+1.
	pull func(i, x, v *Node, w []*Node) []*Node
}

// keepAll is the memory in bytes up to which all states are kept.
const keepAll = 64 << 20

// Segment is the distance of checkpoints for that many steps between states of that many bytes: 1 where all states may be
// kept (up to 64 MiB), else the one that takes the least memory, of 2 sqrt(count) states.
func Segment(bytes int64, count int) int {
	if int64(count)*bytes <= keepAll {
		return 1
	}
	return int(math.Ceil(math.Sqrt(float64(count))))
}

func segmentOf(x *Node, count int) int { return Segment(int64(x.Shape().ByteSize()), count) }

// run makes count steps and is differentiable in x and the trainable weights.
func (s steps) run(x *Node, w []*Node, count int) *Node {
	fixed := stopped(w)
	start := StopGradient(x)
	kept := stack(start, (count+s.segment-1)/s.segment)
	out := loop.Repeat(loop.Int(x.Graph(), kept.Shape().Dimensions[0]), []*Node{start, kept}, fixed,
		func(k *Node, state, w []*Node) []*Node {
			g := k.Graph()
			first := Mul(k, loop.Int(g, s.segment))
			kept := store(state[1], state[0], k)
			y := loop.Repeat(s.length(k, loop.Int(g, count)), []*Node{state[0]}, append([]*Node{first}, w...),
				func(i *Node, state, reads []*Node) []*Node {
					return []*Node{s.advance(Add(reads[0], i), state[0], reads[1:])}
				})
			return []*Node{y[0], kept}
		})
	return custom(out[0], append([]*Node{x}, w[:s.trainable]...), func(v *Node) []*Node {
		grads := []*Node{v}
		for _, p := range fixed[:s.trainable] {
			grads = append(grads, loop.Zeros(p))
		}
		return s.back(out[1], grads, fixed, loop.Int(v.Graph(), count))
	})
}

// back walks back over count steps, an int32 scalar. grads are the cotangents of the last state and of the trainable weights
// so far; kept[k] is the state before step k*segment. It returns the cotangents of the first state and of the weights.
func (s steps) back(kept *Node, grads, w []*Node, count *Node) []*Node {
	g := kept.Graph()
	segments := Div(Add(count, loop.Int(g, s.segment-1)), loop.Int(g, s.segment))
	return loop.Repeat(segments, grads, append([]*Node{kept, count, segments}, w...), func(i *Node, grads, reads []*Node) []*Node {
		g := i.Graph()
		kept, count, segments, w := reads[0], reads[1], reads[2], reads[3:]
		k := Sub(Sub(segments, loop.Int(g, 1)), i)
		first, length := Mul(k, loop.Int(g, s.segment)), s.length(k, count)
		start := load(kept, k)
		if s.segment == 1 {
			return added(grads, s.pull(first, start, grads[0], w))
		}
		// The last state of the segment would not be used: the loop stops one step later than needed, which keeps it
		// one loop.
		inside := loop.Repeat(length, []*Node{start, stack(start, s.segment)}, append([]*Node{first}, w...),
			func(i *Node, state, reads []*Node) []*Node {
				return []*Node{s.advance(Add(reads[0], i), state[0], reads[1:]), store(state[1], state[0], i)}
			})
		return loop.Repeat(length, grads, append([]*Node{inside[1], first, length}, w...), func(i *Node, grads, reads []*Node) []*Node {
			states, first, length, w := reads[0], reads[1], reads[2], reads[3:]
			at := Sub(Sub(length, loop.Int(i.Graph(), 1)), i)
			return added(grads, s.pull(Add(first, at), load(states, at), grads[0], w))
		})
	})
}

// added are the cotangents of a step, those of the weights added to the sums so far.
func added(sums, step []*Node) []*Node {
	for p := range step[1:] {
		step[1+p] = Add(sums[1+p], step[1+p])
	}
	return step
}

// length is the number of steps in segment k.
func (s steps) length(k, count *Node) *Node {
	segment := loop.Int(k.Graph(), s.segment)
	return Min(segment, Sub(count, Mul(k, segment)))
}
