package loop

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/support/exceptions"
)

// Differentiable is a function y = f(in) with its vector-Jacobian product, for loop bodies, where GoMLX's Gradient may
// fail.
//
// f may use all operations of GoMLX except loops (While), conditionals (If), calls (Call), sorts, scatters, sliding
// windows (such as pooling), and positions of maxima and minima (ArgMax, ArgMin), and no nodes from outside. No
// gradient may pass through Gather, which would be a scatter.
type Differentiable struct {
	// graph is never compiled: [Differentiable.again] copies operations into a function of another graph. Scalar
	// constants and Gradient work there, unlike in a loop's body. leaves make each constant and Iota in another graph.
	graph  *graph.Graph
	leaves map[*Node]func(g *graph.Graph) *Node
	// Nodes of graph: the inputs and the result of f, its cotangent, those of the first inputs, and the tape.
	in           []*Node
	y, v         *Node
	pulled, tape []*Node
	lean         bool // see [Differentiable.Lean]
}

// Differentiate builds f for inputs like in, of which only the shapes matter, and its vector-Jacobian products for the
// first inputs, in[:count]. It panics if f uses what [Differentiable] excludes.
func Differentiate(f func(in []*Node) *Node, in []*Node, count int) *Differentiable {
	backend := in[0].Graph().Backend()
	if outer, inside := backend.(*recorder); inside { // a function within a function has constants of its own
		backend = outer.Backend
	}
	r := &recorder{Backend: backend}
	d := &Differentiable{graph: graph.NewGraph(r, "program"), leaves: map[*Node]func(g *graph.Graph) *Node{}}
	for i, n := range in {
		d.in = append(d.in, graph.Parameter(d.graph, fmt.Sprintf("in%d", i), n.Shape()))
	}
	err := exceptions.TryCatch[error](func() { d.y = f(append([]*Node{}, d.in...)) })
	if err != nil {
		panic(fmt.Errorf("loop.Differentiate: the function, which may use nothing but its arguments, "+
			"cannot be built: %w", err))
	}
	for _, n := range d.graph.Nodes() {
		allow(n)
	}
	d.v = graph.Parameter(d.graph, "v", d.y.Shape())
	d.pulled = graph.Gradient(graph.ReduceAllSum(graph.Mul(d.y, d.v)), d.in[:count]...)
	for _, n := range d.graph.Nodes() {
		if len(n.Inputs()) > 0 || n.Type() == graph.NodeTypeParameter {
			continue
		}
		if len(r.leaves) == 0 {
			panic(fmt.Errorf("package loop: %s has no inputs and is not a constant: it cannot be used here", n.Type()))
		}
		d.leaves[n] = r.leaves[0]
		r.leaves = r.leaves[1:]
	}
	d.tape = d.kept()
	return d
}

// Lean returns d with a shorter tape, of values that take long to compute alone: matrix products, results of
// StopGradient, and functions with a derivative by hand ([Custom]). [Differentiable.Pull] computes the others again.
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

// kept are the nodes on the tape: those that the forward pass computes and the backward pass, which depends on the
// cotangent v, reads, without those that Pull makes again: inputs but the first, nodes that depend on no input, and
// cheap ones.
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
	nodes := d.graph.Nodes()
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
	return d.again(in[0].Graph(), d.known(d.in, in), []*Node{d.y})[0]
}

// Linearize is f(in) and the tape.
func (d *Differentiable) Linearize(in []*Node) (y *Node, tape []*Node) {
	out := d.again(in[0].Graph(), d.known(d.in, in), append([]*Node{d.y}, d.tape...))
	return out[0], out[1:]
}

// Pull has the cotangents (∂f/∂in)^T v of the inputs from … to-1, given that of the result. others are all inputs but
// the first, which is on the tape if it is needed.
func (d *Differentiable) Pull(v *Node, tape, others []*Node, from, to int) []*Node {
	known := d.known(append(append([]*Node{d.v}, d.in[1:]...), d.tape...),
		append(append([]*Node{v}, others...), tape...))
	return d.again(v.Graph(), known, d.pulled[from:to])
}

// known maps nodes of the program to those that take their places.
func (d *Differentiable) known(nodes, are []*Node) map[*Node]*Node {
	known := make(map[*Node]*Node, len(nodes))
	for i, n := range nodes {
		known[n] = are[i]
	}
	return known
}

// refused are operations that contain functions, which [Differentiable.again] does not copy, as error messages call
// them.
var refused = map[graph.NodeType]string{
	graph.NodeTypeWhile:               "a loop",
	graph.NodeTypeIf:                  "a branch",
	graph.NodeTypeSort:                "a sort",
	graph.NodeTypeCall:                "a call",
	graph.NodeTypeScatterSum:          "a scatter, such as Gather's gradient,",
	graph.NodeTypeScatterMax:          "a scatter",
	graph.NodeTypeScatterMin:          "a scatter",
	graph.NodeTypeSelectAndScatterMax: "the gradient of a window",
	graph.NodeTypeSelectAndScatterMin: "the gradient of a window",
	graph.NodeTypeReduceWindow:        "a window",
	graph.NodeTypeArgMinMax:           "the position of a maximum or minimum",
}

// again copies nodes and all that they are computed from into g. known has the copies so far.
func (d *Differentiable) again(g *graph.Graph, known map[*Node]*Node, nodes []*Node) []*Node {
	out := make([]*Node, len(nodes))
	for i, n := range nodes {
		out[i] = d.make(g, known, n)
	}
	return out
}

func (d *Differentiable) make(g *graph.Graph, known map[*Node]*Node, n *Node) *Node {
	if made := known[n]; made != nil {
		return made
	}
	if leaf := d.leaves[n]; leaf != nil {
		known[n] = leaf(g)
	} else if y := computed(n); y != nil {
		known[n] = d.make(g, known, y)
	} else {
		allow(n)
		known[n] = n.CloneWithInputs(d.again(g, known, n.Inputs())...)
	}
	return known[n]
}

func allow(n *Node) {
	if what, bad := refused[n.Type()]; bad {
		panic(fmt.Errorf("package loop: %s cannot be in a function that is differentiated inside a loop: "+
			"give its vector-Jacobian product by hand", what))
	}
}

// recorder is a backend that records, for each constant and Iota in its graphs, a function that makes it in another
// graph.
type recorder struct {
	compute.Backend
	leaves []func(g *graph.Graph) *Node
}

func (r *recorder) Builder(name string) compute.Builder {
	return recordedBuilder{r.Backend.Builder(name), r}
}

type recordedBuilder struct {
	compute.Builder
	r *recorder
}

func (b recordedBuilder) Main() compute.Function { return recorded{b.Builder.Main(), b.r} }

type recorded struct {
	compute.Function
	r *recorder
}

// Constant copies the values, which GoMLX's graph does not store.
func (f recorded) Constant(flat any, dims ...int) (compute.Value, error) {
	value, err := f.Function.Constant(flat, dims...)
	if err != nil {
		return nil, err
	}
	shape, err := f.Function.Shape(value)
	if err != nil {
		return nil, err
	}
	t := tensors.FromShape(shape)
	t.MustMutableFlatData(func(own any) { reflect.Copy(reflect.ValueOf(own), reflect.ValueOf(flat)) })
	f.r.leaves = append(f.r.leaves, func(g *graph.Graph) *Node { return graph.ConstTensor(g, t) })
	return value, nil
}

func (f recorded) Iota(shape shapes.Shape, axis int) (compute.Value, error) {
	f.r.leaves = append(f.r.leaves, func(g *graph.Graph) *Node { return graph.Iota(g, shape, axis) })
	return f.Function.Iota(shape, axis)
}

// Custom returns y with a gradient by hand: given the cotangent v of y, pull returns those of the inputs, in their
// shapes. All have one floating-point type. Second derivatives differentiate the operations of pull.
//
// Custom costs nothing in the body of a loop, or where all inputs are results of StopGradient; [Differentiate] leaves
// it out of the forward pass.
func Custom(y *Node, inputs []*Node, pull func(v *Node) []*Node) *Node {
	stopped := true
	for _, n := range inputs {
		stopped = stopped && n.StopGradient()
	}
	if stopped || !y.Graph().IsMainFunc() {
		return y
	}
	// GoMLX's IdentityWithCustomGradient has one argument: here as many zeros as y has entries, and the entries of all
	// inputs. The result is the sum of y and these zeros, whose cotangent is that of y.
	shape := y.Shape().Dimensions
	first := func(p *Node) *Node {
		return graph.Reshape(graph.Slice(p, graph.AxisRange(0, y.Shape().Size())), shape...)
	}
	p := pack(append([]*Node{Zeros(y)}, inputs...))
	p = graph.IdentityWithCustomGradient(p, func(_, v *Node) *Node {
		v = first(v)
		return pack(append([]*Node{Zeros(v)}, pull(v)...))
	})
	return graph.Add(graph.StopGradient(y), first(p))
}

// computed returns y if n is a result of [Custom], else nil.
func computed(n *Node) (y *Node) {
	if n.Type() != graph.NodeTypeAdd {
		return nil
	}
	y, zeros := n.Inputs()[0], n.Inputs()[1]
	for _, step := range []graph.NodeType{graph.NodeTypeReshape, graph.NodeTypeSlice} {
		if zeros.Type() == step {
			zeros = zeros.Inputs()[0]
		}
	}
	if !y.StopGradient() || zeros.CustomGradient() == nil {
		return nil
	}
	return y
}

// pack flattens arrays and joins them into one vector.
func pack(nodes []*Node) *Node {
	flat := make([]*Node, len(nodes))
	for i, n := range nodes {
		flat[i] = graph.Reshape(n, n.Shape().Size())
	}
	if len(flat) == 1 {
		return flat[0]
	}
	return graph.Concatenate(flat, 0)
}
