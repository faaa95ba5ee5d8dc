package solve

import (
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// stack has zeros for count arrays like x.
func stack(x *Node, count int) *Node {
	return BroadcastToShape(loop.Float(x, 0), shapes.Make(x.DType(), append([]int{count}, x.Shape().Dimensions...)...))
}

// store puts x at place i. The pure-Go engine cannot write to a computed position: there, each place takes x or stays.
func store(stack, x, i *Node) *Node {
	if !dynamic(stack) {
		return put(stack, x, i)
	}
	return DynamicUpdateSlice(stack, Reshape(x, append([]int{1}, stack.Shape().Dimensions[1:]...)...),
		corner(stack, i))
}

func load(stack, i *Node) *Node {
	dims := stack.Shape().Dimensions
	if !dynamic(stack) {
		return Reshape(Gather(stack, Reshape(i, 1, 1)), dims[1:]...)
	}
	size := slices.Clone(dims)
	size[0] = 1
	return Reshape(DynamicSlice(stack, corner(stack, i), size), dims[1:]...)
}

// corner is the position in a stack at which place i begins.
func corner(stack, i *Node) []*Node {
	start := slices.Repeat([]*Node{loop.Int(i.Graph(), 0)}, stack.Rank())
	start[0] = i
	return start
}

// dynamic tells whether the engine reads and writes slices at computed positions.
func dynamic(x *Node) bool {
	has := x.Graph().Backend().Capabilities().Operations
	return has[compute.OpTypeDynamicUpdateSlice] && has[compute.OpTypeDynamicSlice]
}

// put selects value at index i of the first axis, and the table elsewhere.
func put(table, value, i *Node) *Node {
	shape := table.Shape()
	if shape.Rank() > 1 {
		value = Reshape(value, append([]int{1}, shape.Dimensions[1:]...)...)
	}
	places := Iota(table.Graph(), shapes.Make(i.DType(), shape.Dimensions...), 0)
	here := Equal(places, BroadcastToDims(i, shape.Dimensions...))
	return Where(here, BroadcastToDims(value, shape.Dimensions...), table)
}

// element is place j, a number known when the program is built.
func element(stack *Node, j int) *Node {
	return Reshape(Slice(stack, AxisElem(j)), stack.Shape().Dimensions[1:]...)
}

// pick is row i of a table with so many columns.
func pick(table, i *Node, width int) *Node {
	rows := Reshape(table, table.Shape().Size()/width, width)
	return Reshape(Gather(rows, Reshape(i, 1, 1)), width)
}

func entry(vector, i *Node) *Node { return Reshape(pick(vector, i, 1)) }

func vector(x *Node, values []float64) *Node {
	return ConvertDType(Const(x.Graph(), values), x.DType())
}

func plus(a *Node, b int) *Node  { return Add(a, loop.Int(a.Graph(), b)) }
func times(a *Node, b int) *Node { return Mul(a, loop.Int(a.Graph(), b)) }
