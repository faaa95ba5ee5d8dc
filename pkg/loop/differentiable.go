package loop

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/support/exceptions"
)

// Differentiable is a function y = f(in) and its vector-Jacobian product for use inside loop bodies, where neither
// GoMLX's scalar operations nor its Gradient work otherwise: see the package's documentation. f may be written with
// any of GoMLX's operations, except loops, branches, sorts, scatters, windows and positions of maxima, and must use
// nothing but its arguments. Gather can be used but not differentiated, as its gradient is a scatter.
type Differentiable struct {
	program *program
	// Nodes of the program: the inputs, the result, its cotangent, the inputs' cotangents, and what is kept for these.
	in           []*Node
	y, v         *Node
	pulled, tape []*Node
	// lean is set by Lean.
	lean bool
}

// Differentiate builds f for inputs of the shapes of in, and the vector-Jacobian products by the first count of them.
// Only the shapes of in are used. It panics where f uses a forbidden operation.
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

// Lean makes the tape hold only what is expensive to compute: results of products and of derivatives by hand, and what
// StopGradient marks. Pull computes everything else again. It is for tapes that many layers keep. It returns d.
func (d *Differentiable) Lean() *Differentiable {
	d.lean = true
	d.tape = d.kept()
	return d
}

// Tape are the shapes of the tape that Linearize returns.
func (d *Differentiable) Tape() []shapes.Shape {
	out := make([]shapes.Shape, len(d.tape))
	for i, n := range d.tape {
		out[i] = n.Shape()
	}
	return out
}

// cheap tells whether a node is computed again where the tape is lean. (A derivative by hand hides its result behind
// StopGradient, and adds a term that carries the cotangent: see package gradient.)
func (d *Differentiable) cheap(n *Node) bool {
	dear := func(n *Node) bool {
		return n.Type() == graph.NodeTypeIdentity || n.Type() == graph.NodeTypeDotGeneral
	}
	return d.lean && len(n.Inputs()) > 0 && !dear(n) &&
		!slices.ContainsFunc(n.Inputs(), func(in *Node) bool { return in.Type() == graph.NodeTypeIdentity })
}

// kept are the nodes that the forward pass computes and the backward pass reads: those that do not depend on v, but
// are inputs of nodes that do. Of the inputs only the first is among them; nodes that depend on no input are not.
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

// Linearize is f(in), with the tape that [Differentiable.Pull] needs.
func (d *Differentiable) Linearize(in []*Node) (y *Node, tape []*Node) {
	out := d.program.again(in[0].Graph(), d.known(d.in, in), append([]*Node{d.y}, d.tape...))
	return out[0], out[1:]
}

// Pull are the vector-Jacobian products (∂f/∂in)^T v, given the tape of Linearize and all inputs but the first.
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
