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

// input is an array that is passed to a loop, and a pointer to the variable for the array's node. This variable belongs
// to the state of the loop or to the values that the loop only reads.
type input struct {
	node  **Node
	array *tensors.Tensor
}

// repeated is the work of a kernel. The function body is one repetition. From the present state of the loop and from
// values that do not change, it computes the next state. When the loop is built, the inputs set the nodes of *state and
// of *reads. The node of the first input must be in *state, since the result of the loop is taken from this node.
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

// waves is an array of shape [rows, columns] with the values wave(0), wave(1), and so on, row by row.
func waves(rows, columns int) *tensors.Tensor { return filled(rows, columns, wave) }

// filled is an array of shape [rows, columns] with the values f(0), f(1), and so on, row by row.
func filled(rows, columns int, f func(i int) float64) *tensors.Tensor {
	values := make([]float32, rows*columns)
	for i := range values {
		values[i] = float32(f(i))
	}
	return tensors.FromFlatDataAndDimensions(values, rows, columns)
}

// wave returns values between -1 and 1. They repeat only after 2003 values. None is close to 0, since computing with
// tiny numbers can be slow.
func wave(i int) float64 { return float64((i*7919)%2003)/1001.5 - 1 + 1e-4 }

// reflection is the orthogonal matrix I - 2 v v^T/|v|², with v = (wave(0), wave(1), …). Multiplying by this matrix does
// not change the lengths of rows. So the numbers stay in range over many repetitions.
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

// one is an array with the single value 1, the first value of a factor; see [changing].
func one() *tensors.Tensor { return filled(1, 1, func(int) float64 { return 1 }) }

// changing keeps the compiler from moving computations out of the loop. A computation that does not read the state
// gives the same result in each repetition, so that the compiler could do it once, before the loop. Therefore such a
// computation is multiplied by a factor, which is an array [1, 1] in the loop's state. The factor stays at 1, up to
// tiny changes, but the compiler cannot know this. changing returns the value of the factor as a scalar, and the factor
// of the next repetition.
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
