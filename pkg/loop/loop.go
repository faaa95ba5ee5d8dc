// Package loop wraps the engine's While operation and hides its traps.
//
// Bodies of XLA loops capture nothing: all they read must be loop state. [While] therefore splits the state in two: what
// the body changes, and what it only reads; both reach the body as arguments. Loops may be nested when the graph is built
// on a backend of package engine.
//
// GoMLX caches scalar constants per graph and binds them to the function that asked first, so that Scalar, AddScalar,
// MulScalar, OnesLike and their like give values of another function inside a body: use [Const] there. The XLA builder does
// the same with reductions: no Reduce inside a body; [Sum] and [MeanAbs] are dot products with ones.
package loop

import (
	"fmt"

	"github.com/gomlx/compute/dtypes/gotype"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
)

// Node is a value of a GoMLX computation graph.
type Node = graph.Node

// While repeats state = body(state, fixed) as long as cond(state, fixed), a boolean scalar, holds, and returns the last
// state. body returns as many nodes, of the same shapes, as state holds. It has no gradient: give one by hand where needed.
func While(state, fixed []*Node, cond func(state, fixed []*Node) *Node, body func(state, fixed []*Node) []*Node) []*Node {
	n := len(state)
	all := append(append(make([]*Node, 0, n+len(fixed)), state...), fixed...)
	g := all[0].Graph()
	shape := make([]shapes.Shape, len(all))
	for i, node := range all {
		shape[i] = node.Shape()
	}
	parameters := func(g *graph.Graph) []*Node {
		nodes := make([]*Node, len(shape))
		for i, s := range shape {
			nodes[i] = graph.Parameter(g, fmt.Sprintf("s%d", i), s)
		}
		return nodes
	}
	condition := graph.NewClosure(g, func(g *graph.Graph) []*Node {
		p := parameters(g)
		return []*Node{cond(p[:n], p[n:])}
	})
	step := graph.NewClosure(g, func(g *graph.Graph) []*Node {
		p := parameters(g)
		next := body(p[:n], p[n:])
		if len(next) != n {
			panic(fmt.Errorf("loop.While: the body returned %d values for %d state values", len(next), n))
		}
		return append(append(make([]*Node, 0, len(p)), next...), p[n:]...)
	})
	return graph.While(condition, step, all...)[:n]
}

// Repeat runs state = body(i, state, fixed) for i = 0 … n-1; n is an int32 scalar, or one counted on the host with [Int].
func Repeat(n *Node, state, fixed []*Node, body func(i *Node, state, fixed []*Node) []*Node) []*Node {
	g := n.Graph()
	all := append([]*Node{Int(g, 0)}, state...)
	out := While(all, append([]*Node{n}, fixed...),
		func(s, f []*Node) *Node { return graph.LessThan(s[0], f[0]) },
		func(s, f []*Node) []*Node {
			return append([]*Node{graph.Add(s[0], Int(s[0].Graph(), 1))}, body(s[0], s[1:], f[1:])...)
		})
	return out[1:]
}

// Const is a scalar constant of the given type that belongs to the function being built.
func Const[T gotype.Supported](g *graph.Graph, v T) *Node {
	return graph.Reshape(graph.Const(g, []T{v}))
}

// Int is an int32 scalar constant.
func Int(g *graph.Graph, v int) *Node { return Const(g, int32(v)) }

// Float is a float scalar constant of x's type.
func Float(x *Node, v float64) *Node {
	return graph.ConvertDType(Const(x.Graph(), v), x.DType())
}

// Like spreads the scalar s over x's shape.
func Like(s, x *Node) *Node {
	return graph.BroadcastToShape(s, shapes.Make(s.DType(), x.Shape().Dimensions...))
}

// Zeros has x's shape and type.
func Zeros(x *Node) *Node { return Like(Float(x, 0), x) }

// Scale multiplies x by the scalar s.
func Scale(x, s *Node) *Node { return graph.Mul(x, Like(s, x)) }

// Select is x where the boolean scalar c holds, else y.
func Select(c, x, y *Node) *Node { return graph.Where(Like(c, x), x, y) }

// Select2 is the scalar x where c holds, else y, in c's shape.
func Select2(c, x, y *Node) *Node { return graph.Where(c, Like(x, c), Like(y, c)) }

// ReLU is max(x, 0).
func ReLU(x *Node) *Node { return graph.Max(x, Zeros(x)) }

// Sum adds x's rows: [n, d] to [d]. Blocks of rows are added to each other first, an eighth remaining each time: XLA CPU's product
// of ones with a matrix is ten times slower than that.
func Sum(x *Node) *Node {
	const blocks = 8
	rest := (*Node)(nil)
	for n := x.Shape().Dimensions[0]; n >= blocks*blocks; n = x.Shape().Dimensions[0] {
		size := n / blocks
		if n > blocks*size {
			last := graph.Slice(x, graph.AxisRange(blocks*size))
			rest = added(rest, graph.Dot(ones(last, 0), last).Product())
		}
		sum := graph.Slice(x, graph.AxisRange(0, size))
		for k := 1; k < blocks; k++ {
			sum = graph.Add(sum, graph.Slice(x, graph.AxisRange(k*size, (k+1)*size)))
		}
		x = sum
	}
	return added(rest, graph.Dot(ones(x, 0), x).Product())
}

// added is a + b, where a may be missing.
func added(a, b *Node) *Node {
	if a == nil {
		return b
	}
	return graph.Add(a, b)
}

// MeanAbs is the mean absolute value of the matrix x, a scalar. (Rows first: XLA CPU computes that in one pass, while sums
// of columns are products with a thin matrix, ten times as slow.)
func MeanAbs(x *Node) *Node {
	rows := graph.Dot(graph.Abs(x), ones(x, 1)).Product()
	return graph.Mul(graph.Dot(rows, ones(x, 0)).Product(), Float(x, 1/float64(max(1, x.Shape().Size()))))
}

// ones is a vector of ones along an axis of x.
func ones(x *Node, axis int) *Node {
	return graph.BroadcastToShape(Float(x, 1), shapes.Make(x.DType(), x.Shape().Dimensions[axis]))
}

// After is x, computed when change is known, a scalar that is not negative. A loop's state is overwritten in place only if
// what computes the new one is known to run after all that read the old one; else XLA copies the old one first.
func After(change, x *graph.Node) *graph.Node {
	return graph.Add(x, Like(graph.Min(change, Float(change, 0)), x))
}
