package solve

import (
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// stack is room for count values of x's shape.
func stack(x *Node, count int) *Node {
	return BroadcastToShape(loop.Float(x, 0), shapes.Make(x.DType(), append([]int{count}, x.Shape().Dimensions...)...))
}

// store puts x at place i. The pure-Go backend has no dynamic slices: there a mask over all places does it.
func store(stack, x, i *Node) *Node {
	if !dynamic(stack) {
		return put(stack, x, i)
	}
	return DynamicUpdateSlice(stack, Reshape(x, append([]int{1}, stack.Shape().Dimensions[1:]...)...),
		corner(stack, i))
}

// load is what is at place i.
func load(stack, i *Node) *Node {
	dims := stack.Shape().Dimensions
	if !dynamic(stack) {
		return Reshape(Gather(stack, Reshape(i, 1, 1)), dims[1:]...)
	}
	size := slices.Clone(dims)
	size[0] = 1
	return Reshape(DynamicSlice(stack, corner(stack, i), size), dims[1:]...)
}

// corner is where place i of a stack begins, along each of its axes.
func corner(stack, i *Node) []*Node {
	start := slices.Repeat([]*Node{loop.Int(i.Graph(), 0)}, stack.Rank())
	start[0] = i
	return start
}

// dynamic tells whether x's engine has slices at places that are computed.
func dynamic(x *Node) bool {
	has := x.Graph().Backend().Capabilities().Operations
	return has[compute.OpTypeDynamicUpdateSlice] && has[compute.OpTypeDynamicSlice]
}

// put replaces entry i of a vector, or what is at place i of a stack, by value, by a mask over all of it.
func put(table, value, i *Node) *Node {
	shape := table.Shape()
	if shape.Rank() > 1 {
		value = Reshape(value, append([]int{1}, shape.Dimensions[1:]...)...)
	}
	places := Iota(table.Graph(), shapes.Make(i.DType(), shape.Dimensions...), 0)
	here := Equal(places, BroadcastToDims(i, shape.Dimensions...))
	return Where(here, BroadcastToDims(value, shape.Dimensions...), table)
}

// element is entry j of a vector, or what is at place j of a stack, for a place known when the graph is built.
func element(stack *Node, j int) *Node {
	return Reshape(Slice(stack, AxisElem(j)), stack.Shape().Dimensions[1:]...)
}

// pick is entry i of a table whose rows have the given width, as a vector.
func pick(table, i *Node, width int) *Node {
	rows := Reshape(table, table.Shape().Size()/width, width)
	return Reshape(Gather(rows, Reshape(i, 1, 1)), width)
}

// entry is entry i of a vector, a scalar.
func entry(vector, i *Node) *Node { return Reshape(pick(vector, i, 1)) }

// vector is a constant vector of x's type.
func vector(x *Node, values []float64) *Node {
	return ConvertDType(Const(x.Graph(), values), x.DType())
}

func plus(a *Node, b int) *Node  { return Add(a, loop.Int(a.Graph(), b)) }
func times(a *Node, b int) *Node { return Mul(a, loop.Int(a.Graph(), b)) }
