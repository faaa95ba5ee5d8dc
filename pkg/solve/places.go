package solve

import (
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// stack returns a stack [count, …] of zeros. It has a place for each of count arrays of x's shape.
func stack(x *Node, count int) *Node {
	return BroadcastToShape(loop.Float(x, 0), shapes.Make(x.DType(), append([]int{count}, x.Shape().Dimensions...)...))
}

// store returns the stack with x at place i. The pure-Go engine cannot write to a position that is computed by the
// program. With this engine, store goes through all places, and selects x at place i and the old value elsewhere.
func store(stack, x, i *Node) *Node {
	if !dynamic(stack) {
		return put(stack, x, i)
	}
	return DynamicUpdateSlice(stack, Reshape(x, append([]int{1}, stack.Shape().Dimensions[1:]...)...),
		corner(stack, i))
}

// load returns the value at place i of the stack.
func load(stack, i *Node) *Node {
	dims := stack.Shape().Dimensions
	if !dynamic(stack) {
		return Reshape(Gather(stack, Reshape(i, 1, 1)), dims[1:]...)
	}
	size := slices.Clone(dims)
	size[0] = 1
	return Reshape(DynamicSlice(stack, corner(stack, i), size), dims[1:]...)
}

// corner returns the position in a stack at which the array at place i begins: the index i on the first axis, and the
// index 0 on all others.
func corner(stack, i *Node) []*Node {
	start := slices.Repeat([]*Node{loop.Int(i.Graph(), 0)}, stack.Rank())
	start[0] = i
	return start
}

// dynamic tells whether x's engine can read and write slices at positions that are computed by the program.
func dynamic(x *Node) bool {
	has := x.Graph().Backend().Capabilities().Operations
	return has[compute.OpTypeDynamicUpdateSlice] && has[compute.OpTypeDynamicSlice]
}

// put returns the table, which is a vector or a stack, with value in place of the entry at index i of the first axis.
// put does not write to a single position, but selects the new or the old value at every position of the table.
func put(table, value, i *Node) *Node {
	shape := table.Shape()
	if shape.Rank() > 1 {
		value = Reshape(value, append([]int{1}, shape.Dimensions[1:]...)...)
	}
	places := Iota(table.Graph(), shapes.Make(i.DType(), shape.Dimensions...), 0)
	here := Equal(places, BroadcastToDims(i, shape.Dimensions...))
	return Where(here, BroadcastToDims(value, shape.Dimensions...), table)
}

// element returns the value at index j of a vector or a stack. j is a number that is known when the program is built.
func element(stack *Node, j int) *Node {
	return Reshape(Slice(stack, AxisElem(j)), stack.Shape().Dimensions[1:]...)
}

// pick returns row i of a table as a vector. width is the length of the rows.
func pick(table, i *Node, width int) *Node {
	rows := Reshape(table, table.Shape().Size()/width, width)
	return Reshape(Gather(rows, Reshape(i, 1, 1)), width)
}

// entry returns the number at index i of a vector, as a scalar.
func entry(vector, i *Node) *Node { return Reshape(pick(vector, i, 1)) }

// vector returns a constant vector with the given values, in x's data type.
func vector(x *Node, values []float64) *Node {
	return ConvertDType(Const(x.Graph(), values), x.DType())
}

func plus(a *Node, b int) *Node  { return Add(a, loop.Int(a.Graph(), b)) }
func times(a *Node, b int) *Node { return Mul(a, loop.Int(a.Graph(), b)) }
