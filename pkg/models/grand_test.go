package models_test

import (
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/train/modeltest"
)

// GRAND, with and without a reverse process, gives the same logits and gradients as Euler's method on dense matrices.
func TestGRANDFormula(t *testing.T) {
	const heads, steps = 2, 3
	formula := func(d *modeltest.Dense) (logits, penalty *Node) {
		h := relu(d.Linear("m1", d.X))
		q, k := d.Linear("odeblock.multihead_att_layer.Q", h), d.Linear("odeblock.multihead_att_layer.K", h)
		width := q.Shape().Dimensions[1] / heads
		w, a := Add(d.A, d.I), ZerosLike(d.A)
		for i := range heads {
			of := func(x *Node) *Node { return Slice(x, AxisRange(), AxisRange(i*width, (i+1)*width)) }
			scores := DivScalar(Dot(of(q), Transpose(of(k), 0, 1)).Product(), math.Sqrt(float64(width)))
			a = Add(a, DivScalar(d.SoftmaxOver(Add(scores, Log(MaxScalar(w, 1e-30))), w), heads))
		}
		rate := Sigmoid(Reshape(d.Param("odeblock.odefunc.alpha_train")))
		run := func(step float64) *Node {
			x := h
			for range steps {
				x = Add(x, MulScalar(Mul(rate, Sub(Dot(a, x).Product(), x)), step))
			}
			return x
		}
		x := run(0.5)
		if d.Config.HasReverse() {
			x = Concatenate([]*Node{x, run(-0.5)}, 1)
		}
		return d.Linear("m22", relu(d.Linear("m21", relu(x)))), nil
	}
	for model, more := range map[string][]string{"grand": nil, "grand+rep": {"reverse-time", "1.5"}} {
		modeltest.Equals(t, model, formula, with(t, append(more, "solver", "euler", "step", "0.5", "time", "1.5",
			"heads", "2", "attention-dim", "4")...))
	}
}
