package solve

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// steps are sequences of states x_i+1 = advance(i, x_i; w), legs, from one first state; each step of each leg has its own
// number i. The backward pass keeps every segment-th state and recomputes those between: memory of 2 sqrt(steps) states for one
// more advance per step (Griewank 1992; Chen et al. 2016).
type steps struct {
	trainable int
	segment   int
	advance   func(i, x *Node, w []*Node) *Node
	// pull gives the cotangents of x_i and of the trainable weights for the cotangent v of x_i+1.
	pull func(i, x, v *Node, scratch, w []*Node) (grads, scratchAfter []*Node)
	// scratch, if not nil, is memory that pull overwrites, so that it need not be made anew for every step.
	scratch func(x *Node) []*Node
}

// legs are the numbers of some legs' first steps, their lengths, and the places of their first checkpoints: [legs].
type legs struct{ first, length, kept *Node }

func (l legs) nodes() []*Node   { return []*Node{l.first, l.length, l.kept} }
func legsOf(reads []*Node) legs { return legs{reads[0], reads[1], reads[2]} }

// at is leg i alone, of scalars.
func (l legs) at(i *Node) legs {
	of := func(table *Node) *Node { return Reshape(pick(table, i, 1)) }
	return legs{of(l.first), of(l.length), of(l.kept)}
}

func plus(a *Node, b int) *Node  { return Add(a, loop.Int(a.Graph(), b)) }
func times(a *Node, b int) *Node { return Mul(a, loop.Int(a.Graph(), b)) }

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

// run walks legs of the given numbers of steps, all from x, and returns their ends, [legs, n, d]. It is differentiable in x and
// the trainable weights.
func (s steps) run(x *Node, w []*Node, counts ...int) *Node {
	fixed := stopped(w)
	start := StopGradient(x)
	n := len(counts)
	// What each leg begins with, and after the last one the totals.
	first, kept, length := make([]int32, n+1), make([]int32, n+1), make([]int32, n)
	for l, count := range counts {
		length[l] = int32(count)
		first[l+1] = first[l] + int32(count)
		kept[l+1] = kept[l] + int32((count+s.segment-1)/s.segment)
	}
	g := x.Graph()
	all := legs{Const(g, first[:n]), Const(g, length), Const(g, kept[:n])}
	out := loop.Repeat(loop.Int(g, n), []*Node{stack(start, n), stack(start, int(kept[n]))}, append(append(all.nodes(), start), fixed...),
		func(l *Node, state, reads []*Node) []*Node {
			end, kept := s.walk(legsOf(reads).at(l), reads[3], state[1], reads[4:])
			return []*Node{store(state[0], end, l), kept}
		})
	return Custom(out[0], append([]*Node{x}, w[:s.trainable]...), func(v *Node) []*Node { return s.back(all, v, out[1], fixed) })
}

// back walks legs back, for the cotangents v of their ends, and returns those of x and of the trainable weights.
func (s steps) back(all legs, v, kept *Node, w []*Node) []*Node {
	x := load(v, loop.Int(v.Graph(), 0))
	sums := zeros(append([]*Node{x}, w[:s.trainable]...))
	return loop.Repeat(loop.Int(v.Graph(), v.Shape().Dimensions[0]), sums, append(append(all.nodes(), v, kept), w...),
		func(l *Node, sums, reads []*Node) []*Node {
			v, kept, w := reads[3], reads[4], reads[5:]
			grads := s.walkBack(legsOf(reads).at(l), kept, append([]*Node{load(v, l)}, sums[1:]...), w)
			grads[0] = Add(grads[0], sums[0])
			return grads
		})
}

// walk makes the steps of a leg from x, and returns its end and kept with the leg's checkpoints.
func (s steps) walk(l legs, x, kept *Node, w []*Node) (end, keptAfter *Node) {
	segments := s.segments(l)
	out := loop.Repeat(segments, []*Node{x, kept}, append(l.nodes(), w...), func(k *Node, state, reads []*Node) []*Node {
		l, x, w := legsOf(reads), state[0], reads[3:]
		kept := store(state[1], x, Add(l.kept, k))
		first := Add(l.first, times(k, s.segment))
		if s.segment == 1 {
			return []*Node{s.advance(first, x, w), kept}
		}
		y := loop.Repeat(s.length(k, l.length), []*Node{x}, append([]*Node{first}, w...), func(i *Node, state, reads []*Node) []*Node {
			return []*Node{s.advance(Add(reads[0], i), state[0], reads[1:])}
		})
		return []*Node{y[0], kept}
	})
	return out[0], out[1]
}

// walkBack walks a leg back. grads are the cotangents of the last state and of the trainable weights so far. It returns the
// cotangents of the first state and of the weights.
func (s steps) walkBack(l legs, kept *Node, grads, w []*Node) []*Node {
	count := len(grads)
	if s.scratch != nil {
		grads = append(grads, s.scratch(grads[0])...)
	}
	pull := func(i, x *Node, state, w []*Node) []*Node {
		step, scratch := s.pull(i, x, state[0], state[count:], w)
		for p := range step[1:] {
			step[1+p] = Add(state[1+p], step[1+p])
		}
		return append(step, scratch...)
	}
	segments := s.segments(l)
	return loop.Repeat(segments, grads, append(append(l.nodes(), kept, segments), w...), func(i *Node, state, reads []*Node) []*Node {
		l, kept, segments, w := legsOf(reads), reads[3], reads[4], reads[5:]
		k := Sub(plus(segments, -1), i)
		start := load(kept, Add(l.kept, k))
		first, length := Add(l.first, times(k, s.segment)), s.length(k, l.length)
		if s.segment == 1 {
			return pull(first, start, state, w)
		}
		// The last state of the segment would not be used: the loop stops one step later than needed, which keeps it
		// one loop.
		inside := loop.Repeat(length, []*Node{start, stack(start, s.segment)}, append([]*Node{first}, w...),
			func(i *Node, state, reads []*Node) []*Node {
				return []*Node{s.advance(Add(reads[0], i), state[0], reads[1:]), store(state[1], state[0], i)}
			})
		return loop.Repeat(length, state, append([]*Node{inside[1], first, length}, w...), func(i *Node, state, reads []*Node) []*Node {
			states, first, length, w := reads[0], reads[1], reads[2], reads[3:]
			at := Sub(plus(length, -1), i)
			return pull(Add(first, at), load(states, at), state, w)
		})
	})[:count]
}

// segments is the number of a leg's segments.
func (s steps) segments(l legs) *Node {
	return Div(plus(l.length, s.segment-1), loop.Int(l.length.Graph(), s.segment))
}

// length is the number of steps in segment k of count steps.
func (s steps) length(k, count *Node) *Node {
	return Min(loop.Int(k.Graph(), s.segment), Sub(count, times(k, s.segment)))
}
