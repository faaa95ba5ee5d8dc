package loop

import (
	"fmt"
	"reflect"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// program is a computation that is built in a separate graph. This graph is never compiled. Instead, [program.again]
// copies the computation, operation by operation, into a function of another graph. The separate graph has only one
// function, so that GoMLX's scalar constants and its function Gradient work there, unlike in the body of a loop.
type program struct {
	graph *graph.Graph
	// leaves has an entry for each constant and each Iota (an array of the numbers 0, 1, 2, …) of the graph. The entry
	// is a function that makes the same node in another graph.
	leaves map[*Node]func(g *graph.Graph) *Node
}

// newProgram makes a program. It gives a new graph to the function build, which builds the computation in this graph.
// Each node of the graph must be a constant, an Iota (an array of the numbers 0, 1, 2, …), a parameter, or a node that
// is computed from other nodes.
func newProgram(backend compute.Backend, build func(g *graph.Graph)) *program {
	if outer, inside := backend.(*recorder); inside { // a program within a program has constants of its own
		backend = outer.Backend
	}
	r := &recorder{Backend: backend}
	p := &program{graph.NewGraph(r, "program"), map[*Node]func(g *graph.Graph) *Node{}}
	build(p.graph)
	for _, n := range p.graph.Nodes() {
		if len(n.Inputs()) > 0 || n.Type() == graph.NodeTypeParameter {
			continue
		}
		if len(r.leaves) == 0 {
			panic(fmt.Errorf("package loop: %s has no inputs and is not a constant: it cannot be used here", n.Type()))
		}
		p.leaves[n] = r.leaves[0]
		r.leaves = r.leaves[1:]
	}
	return p
}

// refused lists the operations that [program.again] cannot copy into another graph. Each of them contains a function,
// for example the body of a loop or the comparison in a sort, and program.again does not copy functions. The strings
// name the operations in error messages.
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

// again copies nodes of the program, and all nodes from which they are computed, into the graph g. It returns the
// copies of the given nodes. The map known has the copies that exist already, and again adds each new copy to this map.
func (p *program) again(g *graph.Graph, known map[*Node]*Node, nodes []*Node) []*Node {
	out := make([]*Node, len(nodes))
	for i, n := range nodes {
		out[i] = p.make(g, known, n)
	}
	return out
}

// make copies one node, as [program.again] does.
func (p *program) make(g *graph.Graph, known map[*Node]*Node, n *Node) *Node {
	if made := known[n]; made != nil {
		return made
	}
	if leaf := p.leaves[n]; leaf != nil {
		known[n] = leaf(g)
	} else if y := computed(n); y != nil {
		known[n] = p.make(g, known, y)
	} else {
		allow(n)
		known[n] = n.CloneWithInputs(p.again(g, known, n.Inputs())...)
	}
	return known[n]
}

// allow panics if the node's operation is listed in refused.
func allow(n *Node) {
	if what, bad := refused[n.Type()]; bad {
		panic(fmt.Errorf("package loop: %s cannot be in a function that is differentiated inside a loop: "+
			"give its vector-Jacobian product by hand", what))
	}
}

// recorder is a backend that records each constant and each Iota (an array of the numbers 0, 1, 2, …) that is made in
// its graphs. For each of them, leaves has a function. This function makes the same constant or Iota in another graph.
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

// Constant makes a constant and records a copy of its values, since GoMLX's graph does not store the values.
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
