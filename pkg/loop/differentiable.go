package loop

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/support/exceptions"
)

// Differentiable is a function y = f(in) together with its vector-Jacobian product, for use inside loop bodies. There,
// GoMLX's scalar operations and its Gradient do not work directly: see the package's documentation. f may use all
// operations of GoMLX except loops, branches, sorts, scatters, windows and positions of maxima. f must not use nodes
// that were made outside f, except its arguments. f may use Gather, but not on what is differentiated, since the
// gradient of Gather is a scatter.
type Differentiable struct {
	program *program
	// These are nodes of the program. in are the inputs, y the result, and v its cotangent (the derivative of the loss
	// with respect to y). pulled are the cotangents of the inputs. tape are the intermediate results that are kept to
	// compute pulled.
	in           []*Node
	y, v         *Node
	pulled, tape []*Node
	// lean says that the tape holds only what is expensive to compute; see [Differentiable.Lean].
	lean bool
}

// Differentiate builds f for inputs that have the shapes of in, and the vector-Jacobian products for the first count
// inputs. It uses only the shapes of in, not their values. It panics if f uses a forbidden operation.
func Differentiate(f func(in []*Node) *Node, in []*Node, count int) *Differentiable {
	d := &Differentiable{}
	d.program = newProgram(in[0].Graph().Backend(), func(g *graph.Graph) {
		for i, n := range in {
			d.in = append(d.in, graph.Parameter(g, fmt.Sprintf("in%d", i), n.Shape()))
		}
		err := exceptions.TryCatch[error](func() { d.y = f(append([]*Node{}, d.in...)) })
		if err != nil {
			panic(fmt.Errorf("loop.Differentiate: the function, which may use nothing but its arguments, "+
				"cannot be built: %w", err))
		}
		for _, n := range g.Nodes() {
			allow(n)
		}
		d.v = graph.Parameter(g, "v", d.y.Shape())
		d.pulled = graph.Gradient(graph.ReduceAllSum(graph.Mul(d.y, d.v)), d.in[:count]...)
	})
	d.tape = d.kept()
	return d
}

// Lean makes the tape shorter: it then holds only what is expensive to compute, which is results of matrix products, of
// functions with a derivative written by hand, and of StopGradient. Pull computes everything else again. Lean saves
// memory if the tapes of many layers are kept. It returns d.
func (d *Differentiable) Lean() *Differentiable {
	d.lean = true
	d.tape = d.kept()
	return d
}

// Tape returns the shapes of the arrays on the tape that Linearize returns.
func (d *Differentiable) Tape() []shapes.Shape {
	out := make([]shapes.Shape, len(d.tape))
	for i, n := range d.tape {
		out[i] = n.Shape()
	}
	return out
}

// cheap tells whether the tape is lean and the node is computed again instead of being kept on it. StopGradient makes a
// node of the identity type. (A function with a derivative written by hand is built of two terms: its result behind
// StopGradient, and zeros that pass the cotangent on. See package gradient. So the sum of these two terms, which has an
// identity among its inputs, is kept as well.)
func (d *Differentiable) cheap(n *Node) bool {
	dear := func(n *Node) bool {
		return n.Type() == graph.NodeTypeIdentity || n.Type() == graph.NodeTypeDotGeneral
	}
	return d.lean && len(n.Inputs()) > 0 && !dear(n) &&
		!slices.ContainsFunc(n.Inputs(), func(in *Node) bool { return in.Type() == graph.NodeTypeIdentity })
}

// kept lists the nodes that the forward pass computes and the backward pass reads: nodes that do not depend on v, but
// are inputs of nodes that depend on v. Among the inputs of f, only the first is listed, since Pull is given the
// others. Nodes that depend on no input of f are not listed, since they can be rebuilt.
func (d *Differentiable) kept() (tape []*Node) {
	late, varies := map[*Node]bool{d.v: true}, map[*Node]bool{}
	for _, n := range d.in {
		varies[n] = true
	}
	needed := map[*Node]bool{}
	for _, n := range d.pulled {
		needed[n] = true
	}
	nodes := d.program.graph.Nodes()
	for _, n := range nodes {
		for _, input := range n.Inputs() {
			late[n] = late[n] || late[input]
			varies[n] = varies[n] || varies[input]
		}
	}
	isInput := map[*Node]bool{}
	for _, n := range d.in[1:] {
		isInput[n] = true
	}
	for i := len(nodes) - 1; i >= 0; i-- {
		n := nodes[i]
		switch {
		case !needed[n] || isInput[n]:
		case late[n] || varies[n] && d.cheap(n):
			for _, input := range n.Inputs() {
				needed[input] = true
			}
		case varies[n]:
			tape = append(tape, n)
		}
	}
	return tape
}

// Value is f(in).
func (d *Differentiable) Value(in []*Node) *Node {
	return d.program.again(in[0].Graph(), d.known(d.in, in), []*Node{d.y})[0]
}

// Linearize is f(in), together with the tape that [Differentiable.Pull] needs.
func (d *Differentiable) Linearize(in []*Node) (y *Node, tape []*Node) {
	out := d.program.again(in[0].Graph(), d.known(d.in, in), append([]*Node{d.y}, d.tape...))
	return out[0], out[1:]
}

// Pull are the vector-Jacobian products (∂f/∂in)^T v for the first count inputs. tape comes from Linearize, and others
// are all inputs but the first.
func (d *Differentiable) Pull(v *Node, tape, others []*Node) []*Node {
	known := d.known(append(append([]*Node{d.v}, d.in[1:]...), d.tape...),
		append(append([]*Node{v}, others...), tape...))
	return d.program.again(v.Graph(), known, d.pulled)
}

func (d *Differentiable) known(nodes, are []*Node) map[*Node]*Node {
	known := make(map[*Node]*Node, len(nodes))
	for i, n := range nodes {
		known[n] = are[i]
	}
	return known
}
