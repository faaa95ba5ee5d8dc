package solve

import (
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/gradient"
	"github.com/revgnn/revgnn/pkg/loop"
)

// keepTapes is a limit in bytes: a scan keeps the tapes of all its layers if they take at most so many bytes together.
// It is a variable since tests change it.
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
	return gradient.Custom(out.x, append([]*Node{x}, s.w[:s.trainable]...), func(v *Node) []*Node {
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
		grads := layer(in).Pull(c.x, tape, in[1:])
		return cotangents{grads[0], s.stacks.add(c.w, grads[1:], l)}
	})
}
