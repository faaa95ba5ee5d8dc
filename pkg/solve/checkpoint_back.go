package solve

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// back is the backward pass over all legs. v are the cotangents of their last states, and none are zeros like the
// weights.
func (s steps[R]) back(all legs, v, kept *Node, none []*Node, r R) cotangents {
	type reads struct {
		all     legs
		v, kept *Node
		r       R
	}
	first := loop.Zeros(load(v, loop.Int(v.Graph(), 0)))
	return loop.Repeat(loop.Int(v.Graph(), v.Shape().Dimensions[0]), cotangents{first, none}, reads{all, v, kept, r},
		func(l *Node, sums cotangents, rd reads) cotangents {
			grads := s.walkBack(rd.all.at(l), rd.kept, cotangents{load(rd.v, l), sums.w}, rd.r)
			grads.x = Add(grads.x, sums.x)
			return grads
		})
}

// pulled is the loop state of the backward pass along a leg. next is the state with which the next step or segment
// begins: as part of the loop state, XLA stores it in memory. If each step loaded it, XLA would load it again for each
// neighbour of a node, seven times slower.
type pulled struct {
	cotangents
	next, scratch *Node
}

func (s steps[R]) pullStep(i, x *Node, p pulled, r R) pulled {
	grads, scratch := s.pull(i, x, p.x, p.scratch, r)
	return pulled{cotangents{grads.x, s.add(p.w, grads.w, i)}, p.next, scratch}
}

func (s steps[R]) walkBack(l legs, kept *Node, grads cotangents, r R) cotangents {
	start := pulled{cotangents: grads}
	if s.scratch != nil {
		start.scratch = s.scratch(grads.x)
	}
	type reads struct {
		leg            legs
		kept, segments *Node
		r              R
	}
	segments := s.segments(l)
	start.next = load(kept, Add(l.kept, plus(segments, -1)))
	return loop.Repeat(segments, start, reads{l, kept, segments, r}, func(i *Node, p pulled, rd reads) pulled {
		k := Sub(plus(rd.segments, -1), i)
		first, x := Add(rd.leg.first, times(k, s.segment)), p.next
		if s.segment == 1 {
			p = s.pullStep(first, x, p, rd.r)
		} else {
			p = s.segmentBack(first, s.length(k, rd.leg.length), x, p, rd.r)
		}
		p.next = load(rd.kept, Add(rd.leg.kept, after(p.cotangents, plus(k, -1)))) // if k is 0, this is not used
		return p
	}).cotangents
}

// segmentBack is the backward pass over a segment, whose states it computes again first.
func (s steps[R]) segmentBack(first, length, x *Node, p pulled, r R) pulled {
	type again struct{ x, states *Node }
	type reads struct {
		first *Node
		r     R
	}
	inside := loop.Repeat(length, again{x, stack(x, s.segment)}, reads{first, r},
		func(i *Node, a again, rd reads) again {
			return again{s.advance(Add(rd.first, i), a.x, rd.r), store(a.states, a.x, i)}
		})
	type way struct {
		reads
		states, length *Node
	}
	p.next = load(inside.states, plus(length, -1))
	return loop.Repeat(length, p, way{reads{first, r}, inside.states, length}, func(i *Node, p pulled, w way) pulled {
		at := Sub(plus(w.length, -1), i)
		p = s.pullStep(Add(w.first, at), p.next, p, w.r)
		p.next = load(w.states, after(p.cotangents, plus(at, -1)))
		return p
	})
}

// after is i, made to depend on the cotangents c, so that XLA can load the state at place i over the one that they were
// computed from (see [loop.After]).
func after(c cotangents, i *Node) *Node {
	change := loop.Float(c.x, 0)
	for _, n := range append([]*Node{c.x}, c.w...) {
		at := make([]SliceAxisSpec, n.Rank())
		for k := range at {
			at[k] = AxisRange(0, 1)
		}
		change = Add(change, Abs(Reshape(ConvertDType(Slice(n, at...), change.DType()))))
	}
	return Add(i, ConvertDType(Min(change, loop.Zeros(change)), i.DType()))
}
