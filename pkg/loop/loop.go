// Package loop builds loops into compiled programs.
//
// GoMLX represents a program as a graph of operations, which an engine such as XLA compiles. A node ([Node]) is a value
// in this graph: an argument of the program, a constant, or the result of an operation. (It is not a node of a
// dataset's graph.) GoMLX's operation While repeats a part of a program, which is called the body of the loop. This
// package makes While easier to use, and works around its restrictions.
//
// The state of a loop consists of the values that the body computes anew in each step from their values in the step
// before. The body of a loop cannot use a node from outside the loop, unless this node is passed to the loop. [While]
// therefore takes two groups of nodes: state, which the body changes, and reads, which the body only reads. The body
// gets both groups as arguments. Each group is a Go value, for example a struct of nodes. A loop may contain another
// loop if the graph is built on a backend of package engine.
//
// In the compiled program, the body is a function of its own. GoMLX makes a scalar constant only once per graph and
// uses it again wherever the same number is needed. Such a constant belongs to the function that used it first, and no
// other function can use it. So Scalar, AddScalar, MulScalar, OnesLike and similar operations may fail inside a body.
// Gradient uses these operations, and may fail as well. Use [Const] in bodies instead. If a function has to use these
// operations or Gradient nevertheless, pass the function to [Differentiate], which builds it in a separate graph and
// copies it from there into the body.
//
// [Differentiate] also computes the vector-Jacobian product of a function y = f(x), which is backpropagation through f:
// from v, the derivative of the loss with respect to y, it gives (∂f/∂x)^T v, the derivative of the loss with respect
// to x. The derivative of the loss with respect to a value is called the cotangent of this value. The tape is the list
// of those intermediate results of f that are stored because the vector-Jacobian product reads them.
//
// Reduce operations, such as ReduceSum, work inside bodies on backends of package engine. There, the sum over an axis
// of a matrix is computed as a product of the matrix with a vector of ones. If the matrix is itself computed in the
// body, [Sum] and [MeanAbs] are faster than Reduce operations, since XLA joins [Sum] or [MeanAbs] and the computation
// of the matrix into one piece of machine code.
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
// last state. The types S and R are nodes, slices of nodes, or structs of these. The state that body returns must have
// the same structure and shapes as the state before. GoMLX cannot differentiate a loop. If a gradient is needed, write
// it by hand (see package gradient).
func While[S, R any](state S, reads R, cond func(state S, reads R) *Node, body func(state S, reads R) S) S {
	changing, names := split(state)
	fixed, _ := split(reads)
	n := len(changing)
	all := append(changing[:n:n], fixed...)
	if n == 0 {
		panic(fmt.Errorf("loop.While: the state has no nodes"))
	}
	// GoMLX calls back to build cond and body, each as a function of its own within the graph. parameters makes the
	// parameters of the function that is being built: one for each node of state and of reads.
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

// Const makes a scalar constant of type T that belongs to the function being built, and to no other.
func Const[T gotype.Supported](g *graph.Graph, v T) *Node {
	return graph.Reshape(graph.Const(g, []T{v}))
}

// Int makes an int32 scalar constant, as [Const] does.
func Int(g *graph.Graph, v int) *Node { return Const(g, int32(v)) }

// Float makes a scalar constant with the data type of x, as [Const] does.
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
// blocks of rows, and the blocks are added to each other, which leaves an eighth of the rows. This is repeated until
// fewer than 64 rows are left. These are added up by the product of a vector of ones with the matrix. (Adding up all n
// rows by such a product would take ten times as long on XLA CPU.)
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

// MeanAbs is the mean absolute value of the matrix x, a scalar. It first computes the sum of each row, which XLA CPU
// does in one pass over the matrix. (Computing the sum of each column first would take ten times as long.)
func MeanAbs(x *Node) *Node {
	rows := graph.Dot(graph.Abs(x), ones(x, 1)).Product()
	return graph.Mul(graph.Dot(rows, ones(x, 0)).Product(), Float(x, 1/float64(max(1, x.Shape().Size()))))
}

// ones is a vector of ones, as long as the given axis of x.
func ones(x *Node, axis int) *Node {
	return graph.BroadcastToShape(Float(x, 1), shapes.Make(x.DType(), x.Shape().Dimensions[axis]))
}

// After returns the value of x, but computes it from change, too: it adds min(change, 0), which is 0, since change is a
// scalar that is not negative. This saves copies of a loop's state. XLA writes the new state over the old one only if
// it can see that everything that reads the old state is computed before the new state. Otherwise XLA copies the old
// state first. If change is computed from the old state, and the new state from the result of After, XLA can see this.
func After(change, x *graph.Node) *graph.Node {
	return graph.Add(x, Like(graph.Min(change, Float(change, 0)), x))
}
