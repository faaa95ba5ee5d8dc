package engine_test

import (
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/loop"
)

// The test runs a loop inside a loop. The outer loop has the rounds i = 0, 1, 2. In round i, the inner loop has i
// rounds, and each of them adds 1 to x. After the inner loop, the outer loop doubles x.
func TestLoopsInsideLoops(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		exec, err := NewExec(e.Backend, func(x *Node) []*Node {
			y := loop.Repeat(loop.Int(x.Graph(), 3), x, nil, func(i, x *Node, _ []*Node) *Node {
				inner := loop.Repeat(i, x, nil, func(_, x *Node, _ []*Node) *Node {
					return Add(x, loop.Like(loop.Float(x, 1), x))
				})
				return Add(inner, inner)
			})
			return []*Node{y, ReduceAllSum(y)}
		})
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.Call(tensors.FromFlatDataAndDimensions([]float32{1, 2}, 2))
		if err != nil {
			t.Fatal(err)
		}
		got := tensors.MustCopyFlatData[float32](out[0])
		if got[0] != 16 || got[1] != 24 || tensors.ToScalar[float32](out[1]) != 40 {
			t.Errorf("got %v, sum %v; want [16 24], sum 40", got, tensors.ToScalar[float32](out[1]))
		}
	})
}

// The test checks that reductions, such as the sum over an axis, give the same results inside the body of a loop as
// outside. The axes have even length, odd length, and length one.
func TestReductionsInsideLoops(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		all := func(x *Node) []*Node {
			return []*Node{ReduceSum(x, 0), ReduceMax(x, 2), ReduceMin(x, 0, 2), ReduceMultiply(x, 1), ReduceAllSum(x),
				ReduceSum(Slice(x, AxisElem(3)), 0)}
		}
		exec, err := NewExec(e.Backend, func(x *Node) []*Node {
			start := all(x)
			for i := range start {
				start[i] = loop.Zeros(start[i])
			}
			in := loop.Repeat(loop.Int(x.Graph(), 1), start, x, func(_ *Node, _ []*Node, x *Node) []*Node {
				return all(x)
			})
			return append(in, all(x)...)
		})
		if err != nil {
			t.Fatal(err)
		}
		defer exec.Finalize()
		values := make([]float32, 7*2*5)
		for i := range values {
			values[i] = float32(i*i%31)/8 - 1
		}
		out, err := exec.Call(tensors.FromFlatDataAndDimensions(values, 7, 2, 5))
		if err != nil {
			t.Fatal(err)
		}
		for i, n := 0, len(out)/2; i < n; i++ {
			inside, outside := tensors.MustCopyFlatData[float32](out[i]), tensors.MustCopyFlatData[float32](out[n+i])
			for k := range outside {
				if d := inside[k] - outside[k]; d > 1e-4 || d < -1e-4 {
					t.Errorf("reduction %d: entry %d is %g in a body, %g outside", i, k, inside[k], outside[k])
				}
			}
		}
	})
}
