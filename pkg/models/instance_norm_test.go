package models_test

import (
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/train/modeltest"
)

// In training without dropout, a network with InstanceNorm before the head gives the same logits and gradients as
// formulas on dense matrices.
func TestInstanceNorm(t *testing.T) {
	t.Parallel()
	modeltest.Check(t, "gcn+rep", with(t, "norm", "instance", "forward", "1", "reverse", "2"))
	modeltest.Equals(t, "gcn", func(d *modeltest.Dense) (logits, penalty *Node) {
		x := encoded(d.Linear("in_", d.X))
		for range d.Config.Forward {
			x = Add(x, gcn(d, d.SymNorm(Add(d.A, d.I)), x))
		}
		return head(d, d.InstanceNorm("out_norm", x)), nil
	}, with(t, "norm", "instance", "head-layers", "2"))
}

// In evaluation, InstanceNorm takes the mean and the variance of the features that are evaluated, as it does in
// training: both give the same logits.
func TestInstanceNormInEvaluation(t *testing.T) {
	g := modeltest.Tiny(t)
	c := modeltest.Small("gcn+rep")
	with(t, "norm", "instance")(&c)
	weights := modeltest.Draw(t, g, c)
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		trained, err := train.Evaluate(e, g, 0, c, weights, false)
		if err != nil {
			t.Fatal(err)
		}
		evaluated, err := train.Predict(e, g, g.NumClasses, c, weights, nil)
		if err != nil {
			t.Fatal(err)
		}
		modeltest.Near(t, "logits in evaluation", evaluated.Logits, trained.Logits)
	})
}
