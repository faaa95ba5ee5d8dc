package models_test

import (
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/train/modeltest"
)

// If the setting block-scale is s, a layer's branch is σ(s (Â X W + b)): s multiplies the sum before the activation is
// applied.
func TestBlockScaleFormula(t *testing.T) {
	const s = 0.25
	scaled := func(sigma func(*Node) *Node) func(*Node) *Node {
		return func(u *Node) *Node { return sigma(MulScalar(u, s)) }
	}
	relu := func(h func(d *modeltest.Dense, x *Node) *Node) denseBranch { // ReLU(s u) = s ReLU(u)
		return func(d *modeltest.Dense, x *Node) *Node { return MulScalar(h(d, x), s) }
	}
	gcn := relu(func(d *modeltest.Dense, x *Node) *Node { return gcn(d, normalised(d), x) })
	gat := relu(func(d *modeltest.Dense, x *Node) *Node { return gat(d, Add(d.A, d.I), x) })
	for _, c := range []struct {
		model, activation string
		branch            denseBranch
	}{{"gcn", "relu", gcn}, {"gcn+rep", "relu", gcn}, {"gat", "relu", gat}, {"gat+rep", "relu", gat},
		{"sage-res", "tanh", sageBranch(scaled(Tanh))}, {"sage+rep", "tanh", sageBranch(scaled(Tanh))}} {
		t.Run(c.model, func(t *testing.T) {
			modeltest.Equals(t, c.model, residualFormula(c.branch, 40), func(tc *train.Config) {
				tc.Norm, tc.BlockScale, tc.Activation = "none", s, c.activation
				if tc.HasReverse() {
					tc.Lipschitz = 0.9
				}
			})
		})
	}
}

// A model with the setting block-scale passes the checks that all models must pass.
func TestBlockScaleChecks(t *testing.T) {
	t.Parallel()
	modeltest.Check(t, "gcn+rep", with(t, "block-scale", "0.25"))
}
