package roofline

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/loop"
)

// work is what a kernel does, repeated in a loop: the arrays passed to the loop, and the loop, whose result is a
// single value.
type work struct {
	arrays []*tensors.Tensor
	loop   func(times *Node, arrays []*Node) *Node
}

// input is an array passed to a loop, and where its node belongs in the loop's state or in what it only reads.
type input struct {
	node  **Node
	array *tensors.Tensor
}

// repeated is the work of a kernel that runs in a loop. Its body computes the next state from the state and from
// reads, which do not change. The nodes of state and reads are set from the inputs. The first input is part of the
// state.
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
		// Fetching a single value is enough to keep the loop from being optimised away.
		end := *inputs[0].node
		return Reshape(Slice(Reshape(end, end.Shape().Size()), AxisRange(0, 1)), 1)
	}
	return w
}

// waves is an array of rows x columns with values of [wave].
func waves(rows, columns int) *tensors.Tensor { return filled(rows, columns, wave) }

// filled is an array of rows x columns with values f(0), f(1), ….
func filled(rows, columns int, f func(i int) float64) *tensors.Tensor {
	values := make([]float32, rows*columns)
	for i := range values {
		values[i] = float32(f(i))
	}
	return tensors.FromFlatDataAndDimensions(values, rows, columns)
}

// wave has values between -1 and 1 without a short period, none of them tiny.
func wave(i int) float64 { return float64((i*7919)%2003)/1001.5 - 1 + 1e-4 }

// reflection is the orthogonal matrix I - 2 v v^T/|v|²: products with it neither grow nor vanish.
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

// changing is the scalar of a factor [1, 1] in the state, which differs in every repetition, so that the compiler
// moves nothing out of the loop; next is the next repetition's factor.
func changing(factor *Node) (value, next *Node) {
	spread := func(v float64) *Node { return loop.Like(loop.Float(factor, v), factor) }
	return Reshape(factor), Add(Mul(factor, spread(-0.5)), spread(1.5))
}

// tiny scales what is added only to keep a result in use, so that it does not change the state's size over many
// repetitions.
func tiny(x *Node) *Node { return loop.Scale(x, loop.Float(x, 1e-12)) }

// rowVector repeats b [1, d] for each of x's rows.
func rowVector(b, x *Node) *Node {
	return BroadcastToShape(b, shapes.Make(dtypes.Float32, x.Shape().Dimensions...))
}
