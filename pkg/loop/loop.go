// Package loop wraps the engine's While operation, which repeats a part of a compiled program, and works around its
// restrictions.
//
// The body of an XLA loop cannot read values from outside the loop: everything that it reads must be part of the loop's
// state. [While] therefore takes two kinds of state: what the body changes, and what it only reads. The body gets both
// as arguments. Both are Go values such as structs of nodes. Loops may be nested if the graph is built on a backend of
// package engine.
//
// The body is a function of its own in the compiled program. GoMLX caches the scalar constants of a graph: each belongs
// to the function in which it was used first, and cannot be used in any other function. So Scalar, AddScalar,
// MulScalar, OnesLike and similar operations, and Gradient, which uses them, may fail inside a body. Use [Const] there
// instead. If a function has to use these operations or Gradient nevertheless, pass it to [Differentiate], which builds
// it in a separate graph and copies it from there into the body.
//
// Reduce operations work inside bodies on backends of package engine, which compute the sum over an axis of a matrix as
// a product with ones. [Sum] and [MeanAbs] are faster if their argument is computed in the body, since XLA fuses them
// with this computation.
package loop

import (
	"fmt"

	"github.com/gomlx/compute/dtypes/gotype"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
)

// Node is a value of a GoMLX computation graph.
type Node = graph.Node

// While repeats state = body(state, reads) as long as cond(state, reads), a boolean scalar, is true, and returns the
// last state. S and R are nodes, slices of nodes, or structs of these. body must return a state with the same structure
// and shapes. GoMLX cannot differentiate a loop. If a gradient is needed, write it by hand (see package gradient).
func While[S, R any](state S, reads R, cond func(state S, reads R) *Node, body func(state S, reads R) S) S {
	changing, names := split(state)
	fixed, _ := split(reads)
	n := len(changing)
	all := append(changing[:n:n], fixed...)
	if n == 0 {
		panic(fmt.Errorf("loop.While: the state has no nodes"))
	}
	// parameters makes the state and the values that are only read, as parameters of the function that is being built
	// in g.
	parameters := func(g *graph.Graph) (S, R) {
		nodes := make([]*Node, len(all))
		for i, node := range all {
			nodes[i] = graph.Parameter(g, fmt.Sprintf("s%d", i), node.Shape())
		}
		return join(state, nodes[:n]), join(reads, nodes[n:])
	}
	g := all[0].Graph()
	condition := graph.NewClosure(g, func(g *graph.Graph) []*Node {
		return []*Node{cond(parameters(g))}
	})
	step := graph.NewClosure(g, func(g *graph.Graph) []*Node {
		s, r := parameters(g)
		own, _ := split(r)
		next, nextNames := split(body(s, r))
		check(changing, next, names, nextNames)
		return append(next, own...)
	})
	return join(state, graph.While(condition, step, all...)[:n])
}

// Repeat runs state = body(i, state, reads) for i = 0 … n-1, and returns the last state. n is an int32 scalar; [Int]
// makes one from a Go number.
func Repeat[S, R any](n *Node, state S, reads R, body func(i *Node, state S, reads R) S) S {
	type counted struct {
		i     *Node
		state S
	}
	type limited struct {
		n     *Node
		reads R
	}
	return While(counted{Int(n.Graph(), 0), state}, limited{n, reads},
		func(s counted, r limited) *Node { return graph.LessThan(s.i, r.n) },
		func(s counted, r limited) counted {
			return counted{graph.Add(s.i, Int(s.i.Graph(), 1)), body(s.i, s.state, r.reads)}
		}).state
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

// Like broadcasts the scalar s to x's shape.
func Like(s, x *Node) *Node {
	return graph.BroadcastToShape(s, shapes.Make(s.DType(), x.Shape().Dimensions...))
}

// Zeros has x's shape and type.
func Zeros(x *Node) *Node { return Like(Float(x, 0), x) }

// Scale multiplies x by the scalar s.
func Scale(x, s *Node) *Node { return graph.Mul(x, Like(s, x)) }

// Select is x where the boolean scalar c is true, else y.
func Select(c, x, y *Node) *Node { return graph.Where(Like(c, x), x, y) }

// Select2 has c's shape: it is the scalar x where c is true, and the scalar y elsewhere.
func Select2(c, x, y *Node) *Node { return graph.Where(c, Like(x, c), Like(y, c)) }

// ReLU is max(x, 0).
func ReLU(x *Node) *Node { return graph.Max(x, Zeros(x)) }

// Sum adds up x's rows: [n, d] to [d]. It first adds blocks of rows to each other, which reduces the number of rows to
// an eighth each time. The rows that are left are added up by a product of ones with the matrix. Adding up all rows by
// such a product would be ten times slower on XLA CPU.
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

// MeanAbs is the mean absolute value of the matrix x, a scalar. (It first computes the sum of each row, which XLA CPU
// does in one pass over the matrix. Computing the sum of each column first would be ten times slower.)
func MeanAbs(x *Node) *Node {
	rows := graph.Dot(graph.Abs(x), ones(x, 1)).Product()
	return graph.Mul(graph.Dot(rows, ones(x, 0)).Product(), Float(x, 1/float64(max(1, x.Shape().Size()))))
}

// ones is a vector of ones, as long as the given axis of x.
func ones(x *Node, axis int) *Node {
	return graph.BroadcastToShape(Float(x, 1), shapes.Make(x.DType(), x.Shape().Dimensions[axis]))
}

// After returns the value of x, but makes its computation depend on change, a scalar that is not negative: it adds
// min(change, 0), which is 0. XLA overwrites a loop's state in place only if it can see that the new state is computed
// after everything that reads the old state. Otherwise it copies the old state first.
func After(change, x *graph.Node) *graph.Node {
	return graph.Add(x, Like(graph.Min(change, Float(change, 0)), x))
}
