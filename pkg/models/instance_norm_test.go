package models_test

import (
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/train/modeltest"
)

// A network with InstanceNorm before the head gives the same logits and gradients as formulas on dense matrices. Its
// evaluation uses the mean and the variance of the features that are evaluated, and no running statistics.
func TestInstanceNorm(t *testing.T) {
	modeltest.Check(t, "gcn+rep", with(t, "norm", "instance", "forward", "1", "reverse", "2"))
	modeltest.Equals(t, "gcn", func(d *modeltest.Dense) (logits, penalty *Node) {
		x := encoded(d.Linear("in_", d.X))
		for range d.Config.Forward {
			x = Add(x, gcn(d, d.SymNorm(Add(d.A, d.I)), x))
		}
		x = Sub(x, ReduceAndKeep(x, ReduceMean, 0))
		x = Div(x, Sqrt(AddScalar(ReduceAndKeep(Square(x), ReduceMean, 0), 1e-5)))
		x = Mul(x, ExpandLeftToRank(d.Param("out_norm.weight"), 2))
		x = Add(x, ExpandLeftToRank(d.Param("out_norm.bias"), 2))
		return head(d, x), nil
	}, with(t, "norm", "instance", "head-layers", "2"))
}
