package models_test

import (
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/train/modeltest"
)

// set changes settings of the configuration c. The argument settings is a list: name, value, name, value, …
func set(t *testing.T, c *train.Config, settings ...string) {
	t.Helper()
	with(t, settings...)(c)
}

// The model glognn gives the same results as the closed form in its publication (see the comment on the type glognn).
// The test computes the closed form directly, with dense matrices, [n, n].
func TestGloGNNFormula(t *testing.T) {
	for _, settings := range [][]string{
		{"alpha", "3", "beta", "0.5", "gamma", "0.3", "delta", "0.8", "order", "3"},
		{"alpha", "0", "beta", "100", "gamma", "0", "delta", "0", "order", "1", "forward", "1"},
	} {
		value := func(d *modeltest.Dense, name string) float64 { return d.Config.Value(name).(float64) }
		modeltest.Equals(t, "glognn", func(d *modeltest.Dense) (logits, penalty *Node) {
			beta1, beta2, gamma, delta := value(d, "alpha"), value(d, "beta"), value(d, "gamma"), value(d, "delta")
			p := d.RowNorm(Add(d.A, d.I))
			mlp := Add(MulScalar(d.Linear("fc1", d.X), delta), MulScalar(d.Linear("fc3", p), 1-delta))
			first := d.Linear("fc2", Max(mlp, ZerosLike(mlp)))
			near, power := ZerosLike(p), d.I
			for k := range d.Config.Value("order").(int) {
				power = Dot(power, p).Product()
				near = Add(near, Mul(power, Slice(d.Param("orders_weight"), AxisRange(k, k+1))))
			}
			x := first
			for range d.Config.Forward {
				t := Transpose(x, 0, 1)
				left := MulScalar(Dot(Sub(x, MulScalar(first, gamma)), t).Product(), 1-gamma)
				left = Add(left, MulScalar(near, beta2))
				right := Add(MulScalar(Dot(x, t).Product(), (1-gamma)*(1-gamma)), MulScalar(d.I, beta1+beta2))
				z := Dot(left, solve.MatrixInverse(right)).Product()
				x = Add(MulScalar(Dot(z, x).Product(), 1-gamma), MulScalar(first, gamma))
			}
			return x, nil
		}, func(c *train.Config) { set(t, c, settings...) })
	}
}

func TestGloGNN(t *testing.T) {
	t.Parallel()
	modeltest.Check(t, "glognn", func(c *train.Config) {
		set(t, c, "alpha", "1", "beta", "10", "gamma", "0.8", "delta", "0.9", "dropout", "0.2")
	})
}
