package loop

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/support/exceptions"
)

// Differentiable is a function y = f(in), where in is a list of inputs, together with the vector-Jacobian product of f.
// A Differentiable can be used inside the body of a loop. (There, GoMLX's own function Gradient may fail: see the
// package's documentation.)
//
// f may use all operations of GoMLX except loops (While), conditionals (If), calls of functions (Call), sorts,
// scatters, operations on sliding windows (such as pooling), and the positions of maxima and minima (ArgMax, ArgMin). f
// must not use nodes that were made outside f, except its arguments. f may use Gather only where no gradient has to
// pass through Gather, since the gradient of Gather is a scatter.
type Differentiable struct {
	program *program
	// The fields below are nodes of the graph of program: in are the inputs of f, y is the result of f, v is the
	// cotangent of y, and pulled are the cotangents of the first inputs ([Differentiate] says of how many). tape are
	// the nodes whose values are stored on the tape.
	in           []*Node
	y, v         *Node
	pulled, tape []*Node
	// lean says that the tape holds only what takes long to compute; see [Differentiable.Lean].
	lean bool
}

// Differentiate builds the function f for inputs of the same shapes as the nodes of the argument in. It also builds the
// vector-Jacobian products of f that give the cotangents of the first inputs, in[:count]. Only the shapes of these
// nodes matter here: the values are passed later, to the methods of the [Differentiable] that Differentiate returns.
// Differentiate panics if f uses an operation that the comment on [Differentiable] does not allow.
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

// Lean makes the tape shorter. Of the values that f computes, the tape then holds only those that may take long to
// compute: results of matrix products, results of StopGradient, and results of functions with a derivative written by
// hand (see [Custom]). [Differentiable.Pull] computes all other values again. Lean saves memory if the tapes of
// many layers are stored. Lean returns d.
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

// cheap tells whether a lean tape leaves out the node n, because it takes little time to compute n again (see
// [Differentiable.Lean]). If the tape is not lean, cheap is false for every node. If the tape is lean, cheap is true
// for all nodes except the following:
//
//   - inputs of f and constants, which are not computed from other nodes;
//   - matrix products, which have the node type DotGeneral in GoMLX;
//   - results of StopGradient, which have the node type Identity in GoMLX;
//   - nodes that are computed directly from a node of the type Identity. The result of a function with a derivative
//     written by hand is such a node: [Custom] computes it as a sum, and one term is a result of StopGradient.
func (d *Differentiable) cheap(n *Node) bool {
	dear := func(n *Node) bool {
		return n.Type() == graph.NodeTypeIdentity || n.Type() == graph.NodeTypeDotGeneral
	}
	return d.lean && len(n.Inputs()) > 0 && !dear(n) &&
		!slices.ContainsFunc(n.Inputs(), func(in *Node) bool { return in.Type() == graph.NodeTypeIdentity })
}

// kept lists the nodes that the tape stores: nodes that the forward pass computes and the backward pass reads. Let v be
// the cotangent of f's result. The forward pass computes the nodes that do not depend on v, and the backward pass
// computes the nodes that depend on v. The tape leaves out three kinds of nodes:
//
//   - the inputs of f except the first, since the caller passes these inputs to [Differentiable.Pull] again;
//   - nodes that depend on no input of f, such as constants, since Pull makes them again;
//   - nodes for which [Differentiable.cheap] is true, since Pull computes them again. The tape stores what Pull needs
//     to compute them.
func (d *Differentiable) kept() (tape []*Node) {
	// late are the nodes that depend on v. varies are the nodes that depend on an input of f.
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
		switch y := computed(n); {
		case !needed[n] || isInput[n]:
		case y != nil:
			needed[y] = true
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

// Count is the number of inputs that Pull has cotangents for.
func (d *Differentiable) Count() int { return len(d.pulled) }

// Value computes f(in), without a tape.
func (d *Differentiable) Value(in []*Node) *Node {
	return d.program.again(in[0].Graph(), d.known(d.in, in), []*Node{d.y})[0]
}

// Linearize computes f(in), and returns it together with the tape that [Differentiable.Pull] needs.
func (d *Differentiable) Linearize(in []*Node) (y *Node, tape []*Node) {
	out := d.program.again(in[0].Graph(), d.known(d.in, in), append([]*Node{d.y}, d.tape...))
	return out[0], out[1:]
}

// Pull computes the cotangents of the inputs number from to to-1 of f: the vector-Jacobian products (∂f/∂in)^T v, where
// v is the cotangent of f's result. The argument count of [Differentiate] says for how many inputs. tape is the tape
// that Linearize returned. others are all inputs of f except the first. (If the first input is needed, it is on the
// tape.)
func (d *Differentiable) Pull(v *Node, tape, others []*Node, from, to int) []*Node {
	known := d.known(append(append([]*Node{d.v}, d.in[1:]...), d.tape...),
		append(append([]*Node{v}, others...), tape...))
	return d.program.again(v.Graph(), known, d.pulled[from:to])
}

// known returns the map that [program.again] needs. For each i, the map says that are[i], a node of another graph,
// takes the place of nodes[i], a node of the program.
func (d *Differentiable) known(nodes, are []*Node) map[*Node]*Node {
	known := make(map[*Node]*Node, len(nodes))
	for i, n := range nodes {
		known[n] = are[i]
	}
	return known
}
