// Package loop builds loops into compiled programs, and functions with gradients written by hand ([Custom]).
//
// GoMLX's While repeats a part of a program, its body. In the program, the body is a function of its own, so that it
// can use no node from outside but those that are passed to it. [While] and [Repeat] therefore take two Go values made
// of nodes, such as structs: state, which the body changes, and reads, which it only reads. Loops can be nested on
// backends of package engine.
//
// In a body, GoMLX's operations with scalar constants, such as MulScalar, and its Gradient may fail: a scalar constant
// is made once per graph, and belongs to the function that used it first. Make constants by [Const], or write this part
// as a Go function for [Differentiate], which builds it elsewhere and copies it into the body, with its vector-Jacobian
// product: if v is the cotangent of y = f(x), the gradient of the loss by y, (∂f/∂x)^T v is that of x. What it needs of
// the forward pass is its tape.
//
// For sums over a matrix that the body computes, use [Sum] or [MeanAbs], which XLA compiles into one piece with it.
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
// last state. S is the Go type of state, and R is the Go type of reads. Both are *Node, or are built from *Node by
// structs, slices and pointers. The state that body returns must have the same structure and shapes as the state that
// body was given. GoMLX cannot differentiate a loop. If a gradient is needed, write it by hand (see [Custom]).
func While[S, R any](state S, reads R, cond func(state S, reads R) *Node, body func(state S, reads R) S) S {
	changing, names := split(state)
	fixed, _ := split(reads)
	n := len(changing)
	all := append(changing[:n:n], fixed...)
	if n == 0 {
		panic(fmt.Errorf("loop.While: the state has no nodes"))
	}
	// In the compiled program, cond and body are two functions. Each of them has one parameter for each node of state
	// and of reads. The Go function parameters makes the parameters of one of these functions. Its argument g is the
	// graph in which GoMLX builds the function.
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

// Repeat runs state = body(i, state, reads) for i = 0 … n-1, and returns the last state. The node n is an int32 scalar;
// [Int] makes such a scalar from a Go number.
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

// Const makes a scalar constant of type T. Unlike GoMLX's Scalar, it makes a new constant at every call, and so it
// works in the body of a loop. (The package's documentation says why Scalar may fail there.)
func Const[T gotype.Supported](g *graph.Graph, v T) *Node {
	return graph.Reshape(graph.Const(g, []T{v}))
}

// Int makes an int32 scalar constant by [Const]. So Int works in the body of a loop.
func Int(g *graph.Graph, v int) *Node { return Const(g, int32(v)) }

// Float makes a scalar constant with the data type of x, by [Const]. So Float works in the body of a loop.
func Float(x *Node, v float64) *Node {
	return graph.ConvertDType(Const(x.Graph(), v), x.DType())
}

// Like broadcasts the scalar s to x's shape.
func Like(s, x *Node) *Node {
	return graph.BroadcastToShape(s, shapes.Make(s.DType(), x.Shape().Dimensions...))
}

// Zeros makes an array of zeros with the shape and the data type of x.
func Zeros(x *Node) *Node { return Like(Float(x, 0), x) }

// Scale multiplies x by the scalar s.
func Scale(x, s *Node) *Node { return graph.Mul(x, Like(s, x)) }

// Select returns x if the boolean scalar c is true, and y otherwise.
func Select(c, x, y *Node) *Node { return graph.Where(Like(c, x), x, y) }

// Select2 returns an array of c's shape, which has the scalar x where c is true and the scalar y elsewhere.
func Select2(c, x, y *Node) *Node { return graph.Where(c, Like(x, c), Like(y, c)) }

// ReLU is max(x, 0).
func ReLU(x *Node) *Node { return graph.Max(x, Zeros(x)) }

// Sum adds up the rows of the matrix x: the result has shape [d] if x has shape [n, d]. First, x is cut into eight
// blocks of rows, and the eight blocks are added up, which leaves one block with an eighth of the rows. This is
// repeated until fewer than 64 rows are left. The product of a vector of ones with the matrix adds up the rows that are
// left. (Adding up all n rows by such a product would take ten times as long on XLA CPU.)
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

// added is a + b, or b if a is nil.
func added(a, b *Node) *Node {
	if a == nil {
		return b
	}
	return graph.Add(a, b)
}

// MeanAbs is the mean absolute value of the matrix x, a scalar. MeanAbs first adds up the entries of each row, which
// XLA CPU does in one pass over the matrix. (Adding up the entries of each column first would take ten times as long.)
func MeanAbs(x *Node) *Node {
	rows := graph.Dot(graph.Abs(x), ones(x, 1)).Product()
	return graph.Mul(graph.Dot(rows, ones(x, 0)).Product(), Float(x, 1/float64(max(1, x.Shape().Size()))))
}

// ones is a vector of ones, as long as the given axis of x.
func ones(x *Node, axis int) *Node {
	return graph.BroadcastToShape(Float(x, 1), shapes.Make(x.DType(), x.Shape().Dimensions[axis]))
}

// After returns x + min(change, 0). The scalar change must not be negative, so that this sum equals x. The purpose of
// After is an order of computations: change must be computed before the result of After.
//
// In a loop, After can make it unnecessary to copy the state. XLA writes the new state over the old state only if all
// computations that read the old state come before the computation of the new state. Otherwise XLA first copies the old
// state. Let change be computed from the old state, and let the new state be computed from the result of After. Then
// XLA knows that it must compute change before the new state.
func After(change, x *graph.Node) *graph.Node {
	return graph.Add(x, Like(graph.Min(change, Float(change, 0)), x))
}
