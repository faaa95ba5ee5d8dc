package solve

import (
	"fmt"
	"strings"

	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Scan applies depth layers x_l+1 = f(l, x_l; own_l, shared), beginning with x_0 = x, and returns x_depth. Every node
// of own is a stack [depth, …], of which layer l gets slice l. l is an int32 scalar. All states have the shape of x.
// The layer is compiled once, whatever the depth.
//
// Scan is differentiable in x and in the trainable nodes of own and shared (see [Layer]). GoMLX differentiates f, which
// may use all operations except those that [loop.Differentiable] excludes, and no node but its arguments. [ScanVJP]
// takes a derivative written by hand instead.
//
// Results that are expensive to compute, of matrix products and of functions with derivatives by hand, are kept for the
// backward pass if those of all layers fit into 512 MiB. Otherwise states are kept, as in [Forward].
func Scan[O, S any](f func(l, x *Node, own O, shared S) *Node, x *Node, own O, shared S, depth int) *Node {
	s, weights := newScan(x, own, shared, depth)
	layer := func(in []*Node) *loop.Differentiable {
		return loop.Differentiate(func(in []*Node) *Node {
			own, shared := weights(in[1 : len(in)-1])
			return alike("a step of the scan", f(in[len(in)-1], in[0], own, shared), in[0])
		}, in, 1+s.trainable).Lean()
	}
	if depth <= 0 {
		return x
	}
	tape, bytes := layer(s.inputs(loop.Int(x.Graph(), 0), x, s.w)).Tape(), int64(0)
	for _, shape := range tape {
		bytes += int64(depth) * int64(shape.ByteSize())
	}
	if bytes <= keepTapes {
		return s.taped(x, tape, depth, layer)
	}
	return s.run(x, depth, func(l, x *Node, w []*Node) *Node {
		in := s.inputs(l, x, w)
		return layer(in).Value(in)
	}, func(l, x, v *Node, w []*Node) cotangents {
		in := s.inputs(l, x, w)
		f := layer(in)
		_, tape := f.Linearize(in)
		grads := f.Pull(v, tape, in[1:], 0, 1+s.trainable)
		return cotangents{grads[0], grads[1:]}
	})
}

// ScanVJP is [Scan] with a derivative written by hand: pull returns the vector-Jacobian products of f, given the
// cotangent v of its result. f and pull keep to the rules of package loop.
func ScanVJP[O, S any](f func(l, x *Node, own O, shared S) *Node,
	pull func(l, x, v *Node, own O, shared S) (dx *Node, dOwn O, dShared S),
	x *Node, own O, shared S, depth int) *Node {
	s, weights := newScan(x, own, shared, depth)
	if depth <= 0 {
		return x
	}
	return s.run(x, depth, func(l, x *Node, w []*Node) *Node {
		own, shared := weights(s.at(w, l))
		return alike("a step of the scan", f(l, x, own, shared), x)
	}, func(l, x, v *Node, w []*Node) cotangents {
		own, shared := weights(s.at(w, l))
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

// scan has the weights of a scan as a list w, the trainable ones first. stacked says which have a slice per layer.
type scan struct {
	w         []*Node
	trainable int
	stacked   []bool
	weights   // of the trainable weights
}

// newScan also returns a function that makes values like own and shared from a list.
func newScan[O, S any](x *Node, own O, shared S, depth int) (s scan, of func(w []*Node) (O, S)) {
	if !x.DType().IsFloat() {
		panic(fmt.Errorf("solve.Scan: x has shape %s: choose one of floating point", x.Shape()))
	}
	both := scanned[O, S]{own, shared}
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
			s.stacked = append(s.stacked, stack)
			if trainable {
				s.names, s.own = append(s.names, l.Name), append(s.own, stack)
			}
		}
	}
	return s, func(w []*Node) (O, S) {
		own := restored(both, w)
		return own.Own, own.Shared
	}
}

// at returns the weights of layer l.
func (s scan) at(w []*Node, l *Node) []*Node {
	out := make([]*Node, len(w))
	for i, n := range w {
		if out[i] = n; s.stacked[i] {
			out[i] = load(n, l)
		}
	}
	return out
}

// inputs lists what layer l reads: the state x, the layer's weights, and the number l.
func (s scan) inputs(l, x *Node, w []*Node) []*Node {
	return append(append([]*Node{x}, s.at(w, l)...), l)
}

// run applies the layers, and keeps states for the backward pass.
func (s scan) run(x *Node, depth int, value func(l, x *Node, w []*Node) *Node,
	pull func(l, x, v *Node, w []*Node) cotangents) *Node {
	all := steps[[]*Node]{segment: segmentOf(x, depth), add: s.add, advance: value,
		pull: func(l, x, v, _ *Node, w []*Node) (cotangents, *Node) { return pull(l, x, v, w), nil }}
	return element(all.run(x, s.w[:s.trainable], stopped(s.w), depth), 0)
}

// keepTapes is the number of bytes up to which a scan keeps the tapes of all layers. Tests change it.
var keepTapes int64 = 512 << 20

// taped applies the layers, and keeps the tapes of all layers for the backward pass. The argument tape has the shapes
// of the arrays on a layer's tape. For each of these arrays, taped makes a stack with a place for each layer. The
// function layer returns a layer together with its derivative. The argument in of this function is a list of inputs
// (see [scan.inputs]), of which only the shapes are used.
func (s scan) taped(x *Node, tape []shapes.Shape, depth int, layer func(in []*Node) *loop.Differentiable) *Node {
	g, fixed := x.Graph(), stopped(s.w)
	type state struct {
		x     *Node
		tapes []*Node
	}
	start := state{x: StopGradient(x)}
	for _, shape := range tape {
		dims := append([]int{depth}, shape.Dimensions...)
		start.tapes = append(start.tapes, Zeros(g, shapes.Make(shape.DType, dims...)))
	}
	out := loop.Repeat(loop.Int(g, depth), start, fixed, func(l *Node, st state, w []*Node) state {
		in := s.inputs(l, st.x, w)
		y, tape := layer(in).Linearize(in)
		for i, n := range tape {
			st.tapes[i] = store(st.tapes[i], n, l)
		}
		st.x = y
		return st
	})
	return loop.Custom(out.x, append([]*Node{x}, s.w[:s.trainable]...), func(v *Node) []*Node {
		grads := s.tapedBack(v, out.tapes, fixed, depth, layer)
		return append([]*Node{grads.x}, grads.w...)
	})
}

// tapedBack differentiates the layers, from the last to the first. v is the cotangent of the last state. tapes has the
// stacks in which [scan.taped] stored the tapes of all layers.
func (s scan) tapedBack(v *Node, tapes, w []*Node, depth int,
	layer func(in []*Node) *loop.Differentiable) cotangents {
	type reads struct{ tapes, w []*Node }
	start, n := cotangents{v, zeros(w[:s.trainable])}, loop.Int(v.Graph(), depth)
	return loop.Repeat(n, start, reads{tapes, w}, func(i *Node, c cotangents, r reads) cotangents {
		l := Sub(loop.Int(i.Graph(), depth-1), i)
		tape := make([]*Node, len(r.tapes))
		for i := range tape {
			tape[i] = load(r.tapes[i], l)
		}
		in := s.inputs(l, c.x, r.w) // c.x has the shape of the state, and only the shape is used
		grads := layer(in).Pull(c.x, tape, in[1:], 0, 1+s.trainable)
		return cotangents{grads[0], s.add(c.w, grads[1:], l)}
	})
}
