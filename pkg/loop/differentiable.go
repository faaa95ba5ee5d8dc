package loop

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/support/exceptions"
)

// Differentiable is a function y = f(in) together with its vector-Jacobian product, for use inside the body of a loop.
// There, GoMLX's scalar operations and its function Gradient may fail: see the package's documentation.
//
// f may use all operations of GoMLX except loops, branches, sorts, scatters, windows and positions of maxima. f must
// not use nodes that were made outside f, except its arguments. f may use Gather, but no gradient may be computed
// through the Gather, since the gradient of Gather is a scatter.
type Differentiable struct {
	program *program
	// The fields below are nodes of the program: in are the inputs of f, y is its result, v the cotangent of y, and
	// pulled are the cotangents of the inputs. tape are the nodes whose values the tape stores.
	in           []*Node
	y, v         *Node
	pulled, tape []*Node
	// lean says that the tape holds only what takes long to compute; see [Differentiable.Lean].
	lean bool
}

// Differentiate builds the function f for inputs that have the shapes of in, and the vector-Jacobian products for the
// inputs in[:count]. Differentiate uses only the shapes of in, not the values. It panics if f uses an operation that
// [Differentiable] does not allow.
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

// Lean makes the tape shorter: it then holds only what takes long to compute. These are the results of matrix products,
// of functions with a derivative written by hand (package gradient), and of StopGradient. [Differentiable.Pull]
// computes everything else again. Lean saves memory if the tapes of many layers are stored. Lean returns d.
func (d *Differentiable) Lean() *Differentiable {
	d.lean = true
	d.tape = d.kept()
	return d
}

// Tape returns the shapes of the arrays that are on the tape, in the order in which Linearize returns the arrays.
func (d *Differentiable) Tape() []shapes.Shape {
	out := make([]shapes.Shape, len(d.tape))
	for i, n := range d.tape {
		out[i] = n.Shape()
	}
	return out
}

// cheap tells whether the node n is computed again instead of being kept on the tape, because the tape is lean and n
// does not take long to compute. Matrix products (DotGeneral) take long. So do functions with a derivative written by
// hand: package gradient builds such a function as the sum of two terms. One is the function's result, passed through
// StopGradient. The other is an array of zeros, through which the cotangent reaches the derivative. GoMLX represents
// StopGradient by a node of the type identity. The sum has this node as an input, by which cheap recognises the sum.
func (d *Differentiable) cheap(n *Node) bool {
	dear := func(n *Node) bool {
		return n.Type() == graph.NodeTypeIdentity || n.Type() == graph.NodeTypeDotGeneral
	}
	return d.lean && len(n.Inputs()) > 0 && !dear(n) &&
		!slices.ContainsFunc(n.Inputs(), func(in *Node) bool { return in.Type() == graph.NodeTypeIdentity })
}

// kept lists the nodes that the tape stores: those that the forward pass computes and the backward pass reads. They are
// the nodes that do not depend on v but are inputs of nodes that depend on v. Three kinds of nodes are left out: the
// inputs of f except the first, since the caller of Pull passes these inputs again; nodes that depend on no input of f,
// since they can be rebuilt; and, if the tape is lean, nodes that are cheap to compute.
func (d *Differentiable) kept() (tape []*Node) {
	// late are the nodes that depend on v, and varies are the nodes that depend on an input of f.
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

// Value computes f(in), without a tape.
func (d *Differentiable) Value(in []*Node) *Node {
	return d.program.again(in[0].Graph(), d.known(d.in, in), []*Node{d.y})[0]
}

// Linearize computes f(in), and returns it together with the tape that [Differentiable.Pull] needs.
func (d *Differentiable) Linearize(in []*Node) (y *Node, tape []*Node) {
	out := d.program.again(in[0].Graph(), d.known(d.in, in), append([]*Node{d.y}, d.tape...))
	return out[0], out[1:]
}

// Pull computes the vector-Jacobian products (∂f/∂in)^T v for the inputs in[:count]; see [Differentiate]. The second
// argument is the tape that Linearize returned. The third has all inputs of f except the first.
func (d *Differentiable) Pull(v *Node, tape, others []*Node) []*Node {
	known := d.known(append(append([]*Node{d.v}, d.in[1:]...), d.tape...),
		append(append([]*Node{v}, others...), tape...))
	return d.program.again(v.Graph(), known, d.pulled)
}

// known maps each of the given nodes of the program to the node that takes its place in another graph, for
// [program.again].
func (d *Differentiable) known(nodes, are []*Node) map[*Node]*Node {
	known := make(map[*Node]*Node, len(nodes))
	for i, n := range nodes {
		known[n] = are[i]
	}
	return known
}
