package loop

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/support/exceptions"
)

// Differentiable is a function y = f(in), written with any of GoMLX's operations, and its vector-Jacobian product by
// automatic differentiation, both for use inside the bodies of loops, where neither works otherwise: see the
// package's documentation. f may use nothing but its arguments; loops, branches, sorts, scatters, windows and
// positions of maxima cannot be used, and Gather cannot be differentiated, as its gradient is a scatter.
type Differentiable struct {
	program *program
	// Nodes of the program: the inputs, the result, its cotangent, the inputs' cotangents, and what is kept for these.
	in           []*Node
	y, v         *Node
	pulled, tape []*Node
	// lean is set by Lean.
	lean bool
}

// Differentiate builds f for inputs of in's shapes, and its vector-Jacobian products by the first count of them. in's
// nodes are not used themselves. It panics where f uses what it may not.
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

// Lean has the tape hold only what is dear to compute: results of products, of derivatives by hand, and what
// StopGradient marks. Pull computes all else again. It is for tapes that many layers keep, and returns d.
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

// cheap tells whether a node is computed again, where the tape is to be lean. (A derivative by hand adds to the result,
// which StopGradient cuts off, what carries the cotangent: see package gradient.)
func (d *Differentiable) cheap(n *Node) bool {
	dear := func(n *Node) bool {
		return n.Type() == graph.NodeTypeIdentity || n.Type() == graph.NodeTypeDotGeneral
	}
	return d.lean && len(n.Inputs()) > 0 && !dear(n) &&
		!slices.ContainsFunc(n.Inputs(), func(in *Node) bool { return in.Type() == graph.NodeTypeIdentity })
}

// kept are the nodes that the way back reads and the way forwards computes: those that do not depend on v, but are
// inputs of some that do. Inputs but the first are not among them, nor is what depends on none of the inputs.
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

// Value is f(in), and Linearize also what [Differentiable.Pull] needs of its computation.
func (d *Differentiable) Value(in []*Node) *Node {
	return d.program.again(in[0].Graph(), d.known(d.in, in), []*Node{d.y})[0]
}

func (d *Differentiable) Linearize(in []*Node) (y *Node, tape []*Node) {
	out := d.program.again(in[0].Graph(), d.known(d.in, in), append([]*Node{d.y}, d.tape...))
	return out[0], out[1:]
}

// Pull are the vector-Jacobian products (∂f/∂in)^T v, for the inputs but the first and the tape of Linearize.
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
