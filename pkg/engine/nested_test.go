package engine_test

import (
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/loop"
)

// Three rounds of: add 1 as often as rounds came before, then double.
func TestLoopsInsideLoops(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		exec, err := NewExec(e.Backend, func(x *Node) []*Node {
			y := loop.Repeat(loop.Int(x.Graph(), 3), []*Node{x}, nil, func(i *Node, s, _ []*Node) []*Node {
				inner := loop.Repeat(i, s, nil, func(_ *Node, s, _ []*Node) []*Node {
					return []*Node{Add(s[0], loop.Like(loop.Float(s[0], 1), s[0]))}
				})
				return []*Node{Add(inner[0], inner[0])}
			})
			return []*Node{y[0], ReduceAllSum(y[0])}
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
