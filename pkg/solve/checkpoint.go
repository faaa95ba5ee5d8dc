package solve

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// steps computes and differentiates legs. A leg is a sequence of steps x_i+1 = advance(i, x_i; r); all legs begin with
// the same state and read the same r, and the numbers i go on from one to the next.
//
// The first state of every segment is kept as a checkpoint, and the backward pass computes the others again. With
// segments of sqrt(n) of n steps, this takes memory for 2 sqrt(n) states (Griewank 1992; Chen et al. 2016).
type steps[R any] struct {
	segment int // steps
	advance func(i, x *Node, r R) *Node
	// pull returns the cotangents of x_i and of the trainable weights, given v, that of x_i+1. scratch is memory that
	// it overwrites, from the function scratch, or nil.
	pull    func(i, x, v, scratch *Node, r R) (grads cotangents, scratchAfter *Node)
	scratch func(x *Node) *Node
	weights // those with an own slice have one per step
	// told, if not nil, is the cotangent of adjoint ([Stats].Adjoint).
	adjoint, told *Node
}

type cotangents struct {
	x *Node
	w []*Node
}

// legs has, for each leg, the number of its first step, its number of steps, and the place of its first checkpoint.
type legs struct{ first, length, kept *Node }

// at is leg i alone, in scalars.
func (l legs) at(i *Node) legs {
	return legs{entry(l.first, i), entry(l.length, i), entry(l.kept, i)}
}

// keepAll is the number of bytes up to which all states are kept.
const keepAll = 64 << 20

// Segment is the distance between checkpoints of count steps, for states of so many bytes: 1 if all fit into 64 MiB,
// else about sqrt(count), which needs the least memory.
func Segment(bytes int64, count int) int {
	if int64(count)*bytes <= keepAll {
		return 1
	}
	return int(math.Ceil(math.Sqrt(float64(count))))
}

func segmentOf(x *Node, count int) int { return Segment(int64(x.Shape().ByteSize()), count) }

// run computes legs of so many steps from x, and returns a stack of their last states, differentiable in x and the
// trainable weights.
func (s steps[R]) run(x *Node, trainable []*Node, r R, counts ...int) *Node {
	n := len(counts)
	// The last entries of first and kept are totals.
	first, kept, length := make([]int32, n+1), make([]int32, n+1), make([]int32, n)
	for l, count := range counts {
		length[l] = int32(count)
		first[l+1] = first[l] + int32(count)
		kept[l+1] = kept[l] + int32((count+s.segment-1)/s.segment)
	}
	g, start := x.Graph(), StopGradient(x)
	all := legs{Const(g, first[:n]), Const(g, length), Const(g, kept[:n])}
	type state struct{ ends, kept *Node }
	type reads struct {
		all   legs
		start *Node
		r     R
	}
	out := loop.Repeat(loop.Int(g, n), state{stack(start, n), stack(start, int(kept[n]))}, reads{all, start, r},
		func(l *Node, st state, rd reads) state {
			end := s.walk(rd.all.at(l), walked{rd.start, st.kept}, rd.r)
			return state{store(st.ends, end.x, l), end.kept}
		})
	inputs := append([]*Node{x}, trainable...)
	if s.told != nil {
		inputs = append(inputs, s.adjoint)
	}
	return loop.Custom(out.ends, inputs, func(v *Node) []*Node {
		grads := s.back(all, v, out.kept, zeros(trainable), r)
		out := append([]*Node{grads.x}, grads.w...)
		if s.told != nil {
			out = append(out, s.told)
		}
		return out
	})
}

// walked is the state of a leg, and the checkpoints of all legs.
type walked struct{ x, kept *Node }

// walk computes one leg and stores its checkpoints.
func (s steps[R]) walk(l legs, start walked, r R) walked {
	type reads struct {
		leg legs
		r   R
	}
	return loop.Repeat(s.segments(l), start, reads{l, r}, func(k *Node, st walked, rd reads) walked {
		st.kept = store(st.kept, st.x, Add(rd.leg.kept, k))
		first := Add(rd.leg.first, times(k, s.segment))
		if s.segment == 1 {
			st.x = s.advance(first, st.x, rd.r)
			return st
		}
		type inside struct {
			first *Node
			r     R
		}
		st.x = loop.Repeat(s.length(k, rd.leg.length), st.x, inside{first, rd.r}, func(i, x *Node, in inside) *Node {
			return s.advance(Add(in.first, i), x, in.r)
		})
		return st
	})
}

func (s steps[R]) segments(l legs) *Node {
	return Div(plus(l.length, s.segment-1), loop.Int(l.length.Graph(), s.segment))
}

// length is the number of steps in segment k of a leg of count steps; the last may be shorter.
func (s steps[R]) length(k, count *Node) *Node {
	return Min(loop.Int(k.Graph(), s.segment), Sub(count, times(k, s.segment)))
}
