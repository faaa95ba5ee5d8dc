package roofline

import (
	"fmt"
	"time"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/loop"
)

// body is what a loop repeats: the next state from the state and what is only read.
type body func(state, fixed []*Node) []*Node

const (
	// span is how long the repetitions of one measurement take together at least, and tries how many there are, of which the
	// fastest counts: disturbances only slow down.
	span  = 200 * time.Millisecond
	tries = 3
	// most repetitions: a kernel below a microsecond is not measured to more digits.
	most = 1 << 18
)

// perRepetition is the time in seconds that one repetition of a body takes inside a loop on the engine: the difference of a loop
// of many repetitions and one of a single one.
func perRepetition(e *engine.Engine, state, fixed []*tensors.Tensor, b body) (float64, error) {
	exec, err := NewExec(e.Backend, func(in []*Node) *Node {
		out := loop.Repeat(in[0], in[1:1+len(state)], in[1+len(state):], func(_ *Node, state, fixed []*Node) []*Node { return b(state, fixed) })
		// One value keeps the loop alive and is all that is fetched.
		first := Slice(Reshape(out[0], out[0].Shape().Size()), AxisRange(0, 1))
		return Reshape(first, 1)
	})
	if err != nil {
		return 0, fmt.Errorf("a kernel cannot be built: %w", err)
	}
	defer exec.Finalize()
	args := make([]any, 0, 1+len(state)+len(fixed))
	args = append(args, nil)
	for _, t := range append(append([]*tensors.Tensor{}, state...), fixed...) {
		args = append(args, t)
	}
	run := func(times int) (time.Duration, error) {
		args[0] = tensors.FromScalar(int32(times))
		start := time.Now()
		out, err := exec.Call(args...)
		if err != nil {
			return 0, fmt.Errorf("a kernel failed on %s: %w", e.Name, err)
		}
		_, err = tensors.CopyFlatData[float32](out[0]) // waits
		took := time.Since(start)
		out[0].MustFinalizeAll()
		return took, err
	}
	if _, err := run(1); err != nil { // compiles
		return 0, err
	}
	fastest := func(times int) (best time.Duration, err error) {
		for i := range tries {
			took, err := run(times)
			if err != nil {
				return 0, err
			}
			if i == 0 || took < best {
				best = took
			}
		}
		return best, nil
	}
	one, err := fastest(1)
	if err != nil {
		return 0, err
	}
	for times := 2; ; {
		took, err := run(times)
		if err != nil {
			return 0, err
		}
		if more := took - one; more < span && times < most { // starting, copying large arrays in, takes its time too
			times = min(most, max(2*times, int(float64(times)*float64(span)/float64(max(more, span/100)))))
			continue
		}
		many, err := fastest(times)
		if err != nil {
			return 0, err
		}
		if many <= one {
			return 0, fmt.Errorf("the clock cannot tell %d repetitions of a kernel from one: measure again on a quieter machine", times)
		}
		return (many - one).Seconds() / float64(times-1), nil
	}
}

// filled is an array of rows x columns with values that f gives.
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

// rowVector spreads b [1, d] over x's rows.
func rowVector(b, x *Node) *Node {
	return BroadcastToShape(b, shapes.Make(dtypes.Float32, x.Shape().Dimensions...))
}
