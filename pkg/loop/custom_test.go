package loop_test

import (
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/loop"
)

// Custom must return the values of the computation, even if an entry of the input is infinite. Its gradient must be the
// one that is written by hand. The test has two computations from the input x. The first computes x², which has as many
// entries as x. The second computes a slice of x, which has fewer entries than x.
func TestCustom(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		exec, err := NewExec(e.Backend, func(x *Node) []*Node {
			square := loop.Custom(Square(StopGradient(x)), []*Node{x}, func(v *Node) []*Node {
				return []*Node{MulScalar(Mul(v, x), 3)} // the true factor is 2; 3 shows that this function is used
			})
			first := loop.Custom(Slice(StopGradient(x), AxisRange(1, 2)), []*Node{x}, func(v *Node) []*Node {
				return []*Node{Concatenate([]*Node{ZerosLike(v), v, ZerosLike(v)}, 0)}
			})
			finite := Slice(square, AxisRange(1, 3))
			return []*Node{square, Gradient(Add(ReduceAllSum(finite), ReduceAllSum(first)), x)[0]}
		})
		if err != nil {
			t.Fatal(err)
		}
		defer exec.Finalize()
		out, err := exec.Call([]float32{float32(math.Inf(1)), 2, 3})
		if err != nil {
			t.Fatal(err)
		}
		values, slope := tensors.MustCopyFlatData[float32](out[0]), tensors.MustCopyFlatData[float32](out[1])
		if !math.IsInf(float64(values[0]), 1) || values[1] != 4 || values[2] != 9 || slope[1] != 7 || slope[2] != 9 {
			t.Errorf("values %v, gradient %v", values, slope)
		}
	})
}
