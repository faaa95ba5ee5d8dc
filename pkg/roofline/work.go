package roofline

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/loop"
)

// work is the computation of a kernel, repeated in a loop. The field loop is a function that builds this loop as a part
// of a GoMLX program, and returns a single value of the loop's result. The arguments of this function are nodes of the
// program (a [Node] stands for a value): one for the number of repetitions, and one for each array. The field arrays
// has the arrays to pass to the compiled program.
type work struct {
	arrays []*tensors.Tensor
	loop   func(times *Node, arrays []*Node) *Node
}

// input is an array that is passed to a loop. When the loop is built, a [Node] stands for the array. The field node
// points to the variable that gets this Node.
type input struct {
	node  **Node
	array *tensors.Tensor
}

// repeated returns the [work] of repeating a kernel in a loop. The function body is one repetition: it computes the
// next state of the loop from the present state, and from values that the loop only reads. *state and *reads consist of
// variables for nodes. Each input has an array and a pointer to one of these variables. When the loop is built, the
// variable gets the node that stands for the array. The first input must point into *state. After the loop, the result
// is taken from the variable of the first input.
func repeated[S, R any](state *S, reads *R, body func(state S, reads R) S, inputs ...input) work {
	var w work
	for _, in := range inputs {
		w.arrays = append(w.arrays, in.array)
	}
	w.loop = func(times *Node, arrays []*Node) *Node {
		for i, in := range inputs {
			*in.node = arrays[i]
		}
		*state = loop.Repeat(times, *state, *reads, func(_ *Node, state S, reads R) S { return body(state, reads) })
		// The result is a single value, so that fetching it takes little time. The value depends on the loop, so that
		// the compiler cannot remove the loop.
		end := *inputs[0].node
		return Reshape(Slice(Reshape(end, end.Shape().Size()), AxisRange(0, 1)), 1)
	}
	return w
}

// waves is an array of shape [rows, columns] with the values wave(0), wave(1), and so on, row by row. The function
// [wave] gives numbers between -1 and 1.
func waves(rows, columns int) *tensors.Tensor { return filled(rows, columns, wave) }

// filled is an array of shape [rows, columns] with the values f(0), f(1), and so on, row by row.
func filled(rows, columns int, f func(i int) float64) *tensors.Tensor {
	values := make([]float32, rows*columns)
	for i := range values {
		values[i] = float32(f(i))
	}
	return tensors.FromFlatDataAndDimensions(values, rows, columns)
}

// wave returns a number between -1 and 1 for i = 0, 1, and so on. The numbers repeat only after 2003 of them. None of
// them is close to 0, since computing with tiny numbers can be slow.
func wave(i int) float64 { return float64((i*7919)%2003)/1001.5 - 1 + 1e-4 }

// reflection is the orthogonal matrix I - 2 v v^T/|v|², where v has the d numbers wave(0) to wave(d-1). Multiplying a
// matrix by it does not change the lengths of the matrix's rows. So the numbers neither grow nor vanish when a matrix
// is multiplied by it again and again.
func reflection(d int) *tensors.Tensor {
	norm := 0.0
	for i := range d {
		norm += wave(i) * wave(i)
	}
	return filled(d, d, func(i int) float64 {
		r, c := i/d, i%d
		v := -2 * wave(r) * wave(c) / norm
		if r == c {
			v++
		}
		return v
	})
}

// one is an array of shape [1, 1] with the value 1. It is the factor of the first repetition; [changing] explains why a
// loop needs a factor.
func one() *tensors.Tensor { return filled(1, 1, func(int) float64 { return 1 }) }

// changing keeps the compiler from moving computations out of the loop. A computation that does not read the state
// gives the same result in each repetition, so that the compiler could do it once, before the loop. Therefore an array
// that such a computation reads is first multiplied by a factor, which belongs to the loop's state. The factor stays at
// 1, up to tiny changes, but the compiler cannot know this. The argument is the factor of this repetition, an array of
// shape [1, 1]. The result value is the same factor as a scalar, and next is the factor of the next repetition.
func changing(factor *Node) (value, next *Node) {
	spread := func(v float64) *Node { return loop.Like(loop.Float(factor, v), factor) }
	return Reshape(factor), Add(Mul(factor, spread(-0.5)), spread(1.5))
}

// tiny multiplies x by 1e-12. The compiler drops a computation whose result is not used. So the result is multiplied by
// 1e-12 and added to the state: then it is used, but hardly changes the state, even over many repetitions.
func tiny(x *Node) *Node { return loop.Scale(x, loop.Float(x, 1e-12)) }

// rowVector repeats the row b, of shape [1, d], once for each row of x.
func rowVector(b, x *Node) *Node {
	return BroadcastToShape(b, shapes.Make(dtypes.Float32, x.Shape().Dimensions...))
}
