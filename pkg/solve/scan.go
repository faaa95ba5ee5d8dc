package solve

import (
	"fmt"
	"strings"

	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Scan applies depth layers x_l+1 = f(l, x_l; own_l, shared), beginning with x_0 = x, and returns x_depth. Nodes of own
// are stacks [depth, …], of which layer l gets slice l, an int32 scalar. States have the shape of x. The layer is
// compiled once.
//
// Scan is differentiable in x and in the trainable nodes of own and shared (see [Layer]). f uses its arguments alone
// and what [loop.Differentiable] allows.
//
// Results that are expensive to compute, of matrix products and of functions with derivatives by hand, are kept for the
// backward pass if those of all layers fit into 512 MiB. Otherwise states are kept, as in [Forward].
func Scan[O, S any](f func(l, x *Node, own O, shared S) *Node, x *Node, own O, shared S, depth int) *Node {
	s, weightsFrom := newScan(x, own, shared, depth)
	if depth <= 0 {
		return x
	}
	s.layer = func(in []*Node) *loop.Differentiable {
		return loop.Differentiate(func(in []*Node) *Node {
			own, shared := weightsFrom(in[1 : len(in)-1])
			return alike("a step of the scan", f(in[len(in)-1], in[0], own, shared), in[0])
		}, in, 1+s.trainable).Lean()
	}
	tape, bytes := s.layer(s.inputs(loop.Int(x.Graph(), 0), x, s.w)).Tape(), int64(0)
	for _, shape := range tape {
		bytes += int64(depth) * int64(shape.ByteSize())
	}
	if bytes <= keepTapes {
		return s.taped(x, tape)
	}
	return s.run(x, func(l, x *Node, w []*Node) *Node {
		in := s.inputs(l, x, w)
		return s.layer(in).Value(in)
	}, func(l, x, v *Node, w []*Node) cotangents {
		in := s.inputs(l, x, w)
		f := s.layer(in)
		_, tape := f.Linearize(in)
		grads := f.Pull(v, tape, in[1:], 0, 1+s.trainable)
		return cotangents{grads[0], grads[1:]}
	})
}

// ScanVJP is [Scan] with a derivative by hand: pull returns the vector-Jacobian products of f, given the cotangent v of
// its result. f and pull keep to the rules of package loop. States are kept, and loaded so that f may gather from them:
// see [pulled].
func ScanVJP[O, S any](f func(l, x *Node, own O, shared S) *Node,
	pull func(l, x, v *Node, own O, shared S) (dx *Node, dOwn O, dShared S),
	x *Node, own O, shared S, depth int) *Node {
	s, weightsFrom := newScan(x, own, shared, depth)
	if depth <= 0 {
		return x
	}
	layerOf := func(l, x *Node, w []*Node) (O, S) {
		in := s.inputs(l, x, w)
		return weightsFrom(in[1 : len(in)-1])
	}
	return s.run(x, func(l, x *Node, w []*Node) *Node {
		own, shared := layerOf(l, x, w)
		return alike("a step of the scan", f(l, x, own, shared), x)
	}, func(l, x, v *Node, w []*Node) cotangents {
		own, shared := layerOf(l, x, w)
		dx, dOwn, dShared := pull(l, x, v, own, shared)
		grads := cotangentsOf(s.weights, scanned[O, S]{dOwn, dShared}, scanned[O, S]{own, shared})
		return cotangents{alike("the cotangent of x", dx, x), grads}
	})
}

// scanned are the weights of a scan.
type scanned[O, S any] struct {
	Own    O
	Shared S
}

// scan has the weights of a scan as a list w, the trainable ones first, with their names; own says which have a slice
// per layer. layer makes a layer for inputs of these shapes.
type scan struct {
	depth     int
	w         []*Node
	trainable int
	weights
	layer func(in []*Node) *loop.Differentiable
}

// newScan also returns a function that makes values like own and shared from a list.
func newScan[O, S any](x *Node, own O, shared S, depth int) (s scan, of func(w []*Node) (O, S)) {
	if !x.DType().IsFloat() {
		panic(fmt.Errorf("solve.Scan: x has shape %s: choose one of floating point", x.Shape()))
	}
	both := scanned[O, S]{own, shared}
	s.depth = depth
	s.w, s.trainable = listed(both)
	for _, trainable := range []bool{true, false} {
		for _, l := range loop.Leaves(both) {
			if l.Trainable != trainable {
				continue
			}
			stack := strings.HasPrefix(l.Name, "Own")
			if shape := l.Shape(); stack && depth > 0 && (shape.Rank() < 1 || shape.Dimensions[0] != depth) {
				panic(fmt.Errorf("package solve: weight %q has shape %s, but there are %d layers: "+
					"stack one weight per layer", l.Name, shape, depth))
			}
			if s.own = append(s.own, stack); trainable {
				s.names = append(s.names, l.Name)
			}
		}
	}
	return s, func(w []*Node) (O, S) {
		both := restored(both, w)
		return both.Own, both.Shared
	}
}

// run applies the layers, and keeps states for the backward pass.
func (s scan) run(x *Node, value func(l, x *Node, w []*Node) *Node,
	pull func(l, x, v *Node, w []*Node) cotangents) *Node {
	all := steps[[]*Node]{segment: segmentOf(x, s.depth), weights: s.weights, advance: value,
		pull: func(l, x, v, _ *Node, w []*Node) (cotangents, *Node) { return pull(l, x, v, w), nil }}
	return element(all.run(x, s.w[:s.trainable], stopped(s.w), s.depth), 0)
}

// inputs lists what layer l reads: the state x, the layer's weights, and the number l.
func (s scan) inputs(l, x *Node, w []*Node) []*Node {
	in := append([]*Node{x}, w...)
	for i, n := range w {
		if s.own[i] {
			in[1+i] = load(n, l)
		}
	}
	return append(in, l)
}

// keepTapes is the number of bytes up to which a scan keeps the tapes of all layers. Tests change it.
var keepTapes int64 = 512 << 20

// taped applies the layers, and keeps their tapes, of the given shapes, in stacks.
func (s scan) taped(x *Node, tape []shapes.Shape) *Node {
	g, fixed := x.Graph(), stopped(s.w)
	type state struct {
		x     *Node
		tapes []*Node
	}
	start := state{x: StopGradient(x)}
	for _, shape := range tape {
		dims := append([]int{s.depth}, shape.Dimensions...)
		start.tapes = append(start.tapes, Zeros(g, shapes.Make(shape.DType, dims...)))
	}
	out := loop.Repeat(loop.Int(g, s.depth), start, fixed, func(l *Node, st state, w []*Node) state {
		in := s.inputs(l, st.x, w)
		y, tape := s.layer(in).Linearize(in)
		for i, n := range tape {
			st.tapes[i] = store(st.tapes[i], n, l)
		}
		st.x = y
		return st
	})
	return loop.Custom(out.x, append([]*Node{x}, s.w[:s.trainable]...), func(v *Node) []*Node {
		type reads struct{ tapes, w []*Node }
		start, n := cotangents{v, zeros(fixed[:s.trainable])}, loop.Int(v.Graph(), s.depth)
		grads := loop.Repeat(n, start, reads{out.tapes, fixed}, func(i *Node, c cotangents, r reads) cotangents {
			l := Sub(loop.Int(i.Graph(), s.depth-1), i)
			tape := make([]*Node, len(r.tapes))
			for i := range tape {
				tape[i] = load(r.tapes[i], l)
			}
			in := s.inputs(l, c.x, r.w) // c.x has the shape of the state, and only the shape is used
			grads := s.layer(in).Pull(c.x, tape, in[1:], 0, 1+s.trainable)
			return cotangents{grads[0], s.add(c.w, grads[1:], l)}
		})
		return append([]*Node{grads.x}, grads.w...)
	})
}
