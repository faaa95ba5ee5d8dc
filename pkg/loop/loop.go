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
// last state. state and reads are *Node, or structs, slices and pointers of them; body must keep their structure and
// shapes. There is no gradient; see [Custom].
func While[S, R any](state S, reads R, cond func(state S, reads R) *Node, body func(state S, reads R) S) S {
	changing, names := split(state)
	fixed, _ := split(reads)
	n := len(changing)
	all := append(changing[:n:n], fixed...)
	if n == 0 {
		panic(fmt.Errorf("loop.While: the state has no nodes"))
	}
	// parameters are those of the functions cond and body of the compiled program.
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

// Repeat runs state = body(i, state, reads) for i = 0 … n-1, and returns the last state. n is an int32 scalar.
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

// Const is a scalar constant, a new one at every call, unlike GoMLX's Scalar.
func Const[T gotype.Supported](g *graph.Graph, v T) *Node {
	return graph.Reshape(graph.Const(g, []T{v}))
}

// Int is an int32 constant. Float is one of the type of x.
func Int(g *graph.Graph, v int) *Node { return Const(g, int32(v)) }

func Float(x *Node, v float64) *Node {
	return graph.ConvertDType(Const(x.Graph(), v), x.DType())
}

// Like broadcasts the scalar s to x's shape.
func Like(s, x *Node) *Node {
	return graph.BroadcastToShape(s, shapes.Make(s.DType(), x.Shape().Dimensions...))
}

// Zeros are those in the shape and type of x.
func Zeros(x *Node) *Node { return Like(Float(x, 0), x) }

// Scale multiplies x by the scalar s.
func Scale(x, s *Node) *Node { return graph.Mul(x, Like(s, x)) }

// Select is x if the boolean scalar c is true, else y.
func Select(c, x, y *Node) *Node { return graph.Where(Like(c, x), x, y) }

// Select2 has the scalar x where c is true, and the scalar y elsewhere.
func Select2(c, x, y *Node) *Node { return graph.Where(c, Like(x, c), Like(y, c)) }

// ReLU is max(x, 0).
func ReLU(x *Node) *Node { return graph.Max(x, Zeros(x)) }

// Sum adds up the rows of x, [n, d] to [d]: eight blocks of rows are added up, again and again until fewer than 64 rows
// are left, and these by a product with ones (ten times slower for all rows on XLA CPU).
func Sum(x *Node) *Node {
	const blocks = 8
	rest := (*Node)(nil)
	for n := x.Shape().Dimensions[0]; n >= blocks*blocks; n = x.Shape().Dimensions[0] {
		size := n / blocks
		if n > blocks*size {
			last := graph.Slice(x, graph.AxisRange(blocks*size))
			rest = Accumulate(rest, graph.Dot(ones(last, 0), last).Product())
		}
		sum := graph.Slice(x, graph.AxisRange(0, size))
		for k := 1; k < blocks; k++ {
			sum = graph.Add(sum, graph.Slice(x, graph.AxisRange(k*size, (k+1)*size)))
		}
		x = sum
	}
	return Accumulate(rest, graph.Dot(ones(x, 0), x).Product())
}

// Accumulate is sum + x, or x if sum is nil.
func Accumulate(sum, x *Node) *Node {
	if sum == nil {
		return x
	}
	return graph.Add(sum, x)
}

// MeanAbs is the mean absolute value of the matrix x, a scalar. Row sums come first, in one pass of XLA CPU (column
// sums first would take ten times as long).
func MeanAbs(x *Node) *Node {
	rows := graph.Dot(graph.Abs(x), ones(x, 1)).Product()
	return graph.Mul(graph.Dot(rows, ones(x, 0)).Product(), Float(x, 1/float64(max(1, x.Shape().Size()))))
}

// RowDots are the inner products of rows of a and b, [n, d]: [n, 1]. XLA CPU computes this product with ones on all
// threads, and a batched one on a single thread.
func RowDots(a, b *Node) *Node {
	return graph.Dot(graph.Mul(a, b), graph.BroadcastToDims(Float(a, 1), a.Shape().Dimensions[1], 1)).Product()
}

func ones(x *Node, axis int) *Node {
	return graph.BroadcastToShape(Float(x, 1), shapes.Make(x.DType(), x.Shape().Dimensions[axis]))
}

// After is x, made to depend on a scalar change >= 0, which is then computed before the result.
//
// In a loop, XLA writes a new state over the old one without a copy only if all that reads the old state comes before:
// let change be computed from the old state, and the new state from the result.
func After(change, x *graph.Node) *graph.Node {
	return graph.Add(x, Like(graph.Min(change, Float(change, 0)), x))
}
