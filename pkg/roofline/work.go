package roofline

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/loop"
)

// work is the computation of a kernel, repeated in a loop. arrays are passed to the loop. loop builds the loop, and
// returns a single value of its result.
type work struct {
	arrays []*tensors.Tensor
	loop   func(times *Node, arrays []*Node) *Node
}

// input is an array that is passed to a loop, and a pointer to where its node is stored in the loop's state or among
// the nodes that the loop only reads.
type input struct {
	node  **Node
	array *tensors.Tensor
}

// repeated is the work of a kernel whose loop has the given body. body computes the next state from the state and from
// reads, which do not change. The nodes of state and reads are set to the inputs when the loop is built. The first
// input must be part of the state.
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
		// The result is a single value, so that fetching it takes little time. It depends on the loop, so that the
		// compiler cannot remove the loop.
		end := *inputs[0].node
		return Reshape(Slice(Reshape(end, end.Shape().Size()), AxisRange(0, 1)), 1)
	}
	return w
}

// waves is an array of shape [rows, columns] with the values wave(0), wave(1), ….
func waves(rows, columns int) *tensors.Tensor { return filled(rows, columns, wave) }

// filled is an array of shape [rows, columns] with the values f(0), f(1), ….
func filled(rows, columns int, f func(i int) float64) *tensors.Tensor {
	values := make([]float32, rows*columns)
	for i := range values {
		values[i] = float32(f(i))
	}
	return tensors.FromFlatDataAndDimensions(values, rows, columns)
}

// wave returns values between -1 and 1. They do not repeat soon, and none is close to 0, since computing with tiny
// numbers can be slow.
func wave(i int) float64 { return float64((i*7919)%2003)/1001.5 - 1 + 1e-4 }

// reflection is the orthogonal matrix I - 2 v v^T/|v|². Repeated products with it neither grow nor vanish.
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

// one is the first value of a factor; see [changing].
func one() *tensors.Tensor { return filled(1, 1, func(int) float64 { return 1 }) }

// changing returns the value of factor, an array [1, 1] in the loop's state, as a scalar, and the factor of the next
// repetition. The factor stays at 1, up to tiny changes, but the compiler does not know this. If inputs that do not
// change are multiplied by the factor, the compiler cannot move computations with them out of the loop.
func changing(factor *Node) (value, next *Node) {
	spread := func(v float64) *Node { return loop.Like(loop.Float(factor, v), factor) }
	return Reshape(factor), Add(Mul(factor, spread(-0.5)), spread(1.5))
}

// tiny multiplies x by 1e-12. A result that is added to the state in this way is used, so that the compiler cannot drop
// its computation, but hardly changes the state, even over many repetitions.
func tiny(x *Node) *Node { return loop.Scale(x, loop.Float(x, 1e-12)) }

// rowVector repeats b, [1, d], for each of x's rows.
func rowVector(b, x *Node) *Node {
	return BroadcastToShape(b, shapes.Make(dtypes.Float32, x.Shape().Dimensions...))
}
