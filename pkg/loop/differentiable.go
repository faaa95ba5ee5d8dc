package loop

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/support/exceptions"
)

// Differentiable is a function y = f(in) with its vector-Jacobian product, for loop bodies, where GoMLX's Gradient may fail.
//
// f may use all operations of GoMLX except loops (While), conditionals (If), calls (Call), sorts, scatters, sliding windows
// (such as pooling), and positions of maxima and minima (ArgMax, ArgMin), and no nodes from outside. No gradient may pass
// through Gather, which would be a scatter.
type Differentiable struct {
	program *program
	// Nodes of program's graph: the inputs and the result of f, its cotangent, those of the first inputs, and the tape.
	in           []*Node
	y, v         *Node
	pulled, tape []*Node
	lean         bool // see [Differentiable.Lean]
}

// Differentiate builds f for inputs like in, of which only the shapes matter, and its vector-Jacobian products for the first
// inputs, in[:count]. It panics if f uses what [Differentiable] excludes.
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

// Lean returns d with a shorter tape, of values that take long to compute alone: matrix products, results of StopGradient,
// and functions with a derivative by hand ([Custom]). [Differentiable.Pull] computes the others again.
func (d *Differentiable) Lean() *Differentiable {
	d.lean = true
	d.tape = d.kept()
	return d
}

// Tape has the shapes of the arrays that Linearize returns.
func (d *Differentiable) Tape() []shapes.Shape {
	out := make([]shapes.Shape, len(d.tape))
	for i, n := range d.tape {
		out[i] = n.Shape()
	}
	return out
}

// cheap tells whether a lean tape leaves out n: not inputs and constants, matrix products (DotGeneral), results of
// StopGradient (Identity), and what is computed directly from these, such as the result of [Custom], a sum.
func (d *Differentiable) cheap(n *Node) bool {
	dear := func(n *Node) bool {
		return n.Type() == graph.NodeTypeIdentity || n.Type() == graph.NodeTypeDotGeneral
	}
	return d.lean && len(n.Inputs()) > 0 && !dear(n) &&
		!slices.ContainsFunc(n.Inputs(), func(in *Node) bool { return in.Type() == graph.NodeTypeIdentity })
}

// kept are the nodes on the tape: those that the forward pass computes and the backward pass, which depends on the cotangent
// v, reads, without those that Pull makes again: inputs but the first, nodes that depend on no input, and cheap ones.
func (d *Differentiable) kept() (tape []*Node) {
	// backward depend on v, varies on an input of f.
	backward, varies := map[*Node]bool{d.v: true}, map[*Node]bool{}
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
			backward[n] = backward[n] || backward[input]
			varies[n] = varies[n] || varies[input]
		}
	}
	isInput := map[*Node]bool{}
	for _, n := range d.in[1:] {
		isInput[n] = true
	}
	for i := len(nodes) - 1; i >= 0; i-- {
		n := nodes[i]
		switch y := computed(n); {
		case !needed[n] || isInput[n]:
		case y != nil:
			needed[y] = true
		case backward[n] || varies[n] && d.cheap(n):
			for _, input := range n.Inputs() {
				needed[input] = true
			}
		case varies[n]:
			tape = append(tape, n)
		}
	}
	return tape
}

// Count is the number of inputs that Pull has cotangents for.
func (d *Differentiable) Count() int { return len(d.pulled) }

// Value computes f(in), without a tape.
func (d *Differentiable) Value(in []*Node) *Node {
	return d.program.again(in[0].Graph(), d.known(d.in, in), []*Node{d.y})[0]
}

// Linearize is f(in) and the tape.
func (d *Differentiable) Linearize(in []*Node) (y *Node, tape []*Node) {
	out := d.program.again(in[0].Graph(), d.known(d.in, in), append([]*Node{d.y}, d.tape...))
	return out[0], out[1:]
}

// Pull has the cotangents (∂f/∂in)^T v of the inputs from … to-1, given that of the result. others are all inputs but the
// first, which is on the tape if it is needed.
func (d *Differentiable) Pull(v *Node, tape, others []*Node, from, to int) []*Node {
	known := d.known(append(append([]*Node{d.v}, d.in[1:]...), d.tape...),
		append(append([]*Node{v}, others...), tape...))
	return d.program.again(v.Graph(), known, d.pulled[from:to])
}

// known maps nodes of the program to those that take their places.
func (d *Differentiable) known(nodes, are []*Node) map[*Node]*Node {
	known := make(map[*Node]*Node, len(nodes))
	for i, n := range nodes {
		known[n] = are[i]
	}
	return known
}
