package loop

import (
	"fmt"
	"reflect"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// program is a computation in a graph of its own, where scalar constants and Gradient work, unlike in a loop's body. It is
// never compiled: [program.again] copies it into a function of another graph.
type program struct {
	graph *graph.Graph
	// leaves make each constant and Iota in another graph.
	leaves map[*Node]func(g *graph.Graph) *Node
}

// newProgram builds a computation of constants, Iotas, parameters, and what is computed from them.
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

// refused are operations that contain functions, which [program.again] does not copy, as error messages call them.
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
func (p *program) again(g *graph.Graph, known map[*Node]*Node, nodes []*Node) []*Node {
	out := make([]*Node, len(nodes))
	for i, n := range nodes {
		out[i] = p.make(g, known, n)
	}
	return out
}

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

func allow(n *Node) {
	if what, bad := refused[n.Type()]; bad {
		panic(fmt.Errorf("package loop: %s cannot be in a function that is differentiated inside a loop: "+
			"give its vector-Jacobian product by hand", what))
	}
}

// recorder is a backend that records, for each constant and Iota in its graphs, a function that makes it in another graph.
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
