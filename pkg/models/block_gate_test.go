package models_test

import (
	"math"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/train/modeltest"
)

// denseBranch computes a layer's branch h(X) with dense matrices.
type denseBranch func(d *modeltest.Dense, x *Node) *Node

// gated returns the product, entry by entry, of the branch h(X) and the gates sigmoid(H U + u). H is the input of the
// first layer, and U and u are parameters.
func (h denseBranch) gated() denseBranch {
	return func(d *modeltest.Dense, x *Node) *Node {
		return Mul(Sigmoid(d.Linear(body+"gate", relu(d.Linear("in_", d.X)))), h(d, x))
	}
}

// after returns the branch h(P(X)), where P is the normalisation that the argument norm names; see layers.Projection.
func (h denseBranch) after(norm string) denseBranch {
	return func(d *modeltest.Dense, x *Node) *Node { return h(d, projection(norm, x)) }
}

// projection returns P(x), where P is the normalisation that the argument norm names; see layers.Projection. For
// "none", it returns x.
func projection(norm string, x *Node) *Node {
	width := float64(x.Shape().Dimensions[1])
	switch norm {
	case "center":
		return Sub(x, ReduceAndKeep(x, ReduceMean, 1))
	case "center-nodes":
		return Sub(x, ReduceAndKeep(x, ReduceMean, 0))
	case "ball":
		squares := ReduceAndKeep(Square(x), ReduceSum, 1)
		outside := GreaterThan(squares, MulScalar(OnesLike(squares), width))
		length := Sqrt(Where(outside, squares, OnesLike(squares)))
		return Mul(x, Where(outside, DivScalar(MulScalar(Inverse(length), width), math.Sqrt(width)), OnesLike(length)))
	}
	return x
}

// loud returns the graph [modeltest.Tiny] with features that are four times as large. The normalisation "ball" shortens
// rows that are longer than sqrt(d). With the larger features, some rows of the layers' inputs are longer than this.
func loud(t *testing.T) *graphs.Graph {
	t.Helper()
	g := modeltest.Tiny(t)
	for i := range g.Features {
		g.Features[i] *= 4
	}
	return g
}

// The logits of models with the settings block-gate and block-norm equal those of their formulas. The test computes the
// formulas with dense matrices.
func TestBlockGateFormula(t *testing.T) {
	of := map[string]denseBranch{
		"gcn":      func(d *modeltest.Dense, x *Node) *Node { return gcn(d, normalised(d), x) },
		"gat":      func(d *modeltest.Dense, x *Node) *Node { return gat(d, Add(d.A, d.I), x) },
		"sage-res": sageBranch(relu),
	}
	of["gcn+rep"], of["sage+rep"] = of["gcn"], of["sage-res"]
	for _, c := range []struct {
		model, norm string
		gate        bool
	}{{"gcn", "none", true}, {"gat", "center-nodes", true}, {"sage-res", "center", true}, {"sage-res", "ball", true},
		{"gcn+rep", "ball", false}, {"sage+rep", "none", true}, {"sage+rep", "ball", true}, {"gat", "ball", false}} {
		h := of[c.model].after(c.norm)
		if c.gate {
			h = h.gated()
		}
		t.Run(c.model+" with "+c.norm, func(t *testing.T) {
			modeltest.EqualsOn(t, loud(t), c.model, residualFormula(h, 40), func(tc *train.Config) {
				tc.Norm, tc.BlockNorm, tc.BlockGate = "none", c.norm, c.gate
				if tc.HasReverse() {
					tc.Lipschitz = 0.5
				}
			})
		})
	}
}

// Models with the settings block-gate and block-norm pass the checks that all models must pass.
func TestBlockGateChecks(t *testing.T) {
	t.Parallel()
	modeltest.Check(t, "sage+rep", with(t, "block-gate", "true", "block-norm", "ball", "norm", "none"))
	modeltest.Check(t, "gcn", with(t, "block-gate", "true", "block-norm", "center", "forward", "1"))
	modeltest.Check(t, "gat+rep", with(t, "block-gate", "true", "block-norm", "center-nodes", "heads", "2"))
}

// 64 reverse layers with gates recover the input of 64 forward layers, with and without the setting block-norm. The
// bound c is only 0.25: with larger weights, the forward layers could enlarge some columns of the features so much that
// the other columns are lost to rounding.
func TestBlockGateInverts(t *testing.T) {
	t.Parallel()
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		for _, a := range [][2]string{{"sage+rep", "none"}, {"sage+rep", "ball"}, {"gcn+rep", "center-nodes"},
			{"gat+rep", "center"}} {
			c := train.Default(a[0])
			c.Forward, c.MaxIterations, c.Lipschitz, c.BlockGate, c.BlockNorm = 64, 40, 0.25, true, a[1]
			inv, err := train.Invert(t.Context(), e, modeltest.Board(t, 8), c)
			if err != nil {
				t.Fatal(err)
			}
			if !(inv.MeanAbsError <= 1e-5) {
				t.Errorf("%s, %s: the mean absolute error of 64 layers is %g", a[0], a[1], inv.MeanAbsError)
			}
		}
	})
}

// Models without the settings block-gate and block-norm accept only the values "false" and "none", which have no
// effect. For other values, the error names the setting. Models with block-norm refuse a normalisation that does not
// exist.
func TestBlockGateRefused(t *testing.T) {
	for name, values := range map[string][2]string{"block-gate": {"false", "true"}, "block-norm": {"none", "ball"}} {
		for _, model := range []string{"mlp", "sage", "grand+rep"} {
			c := models.Default(model)
			if err := c.Set(name, values[0]); err != nil {
				t.Errorf("%s: %v", model, err)
			}
			if err := c.Set(name, values[1]); err == nil || !strings.Contains(err.Error(), `has no setting "`+name) {
				t.Errorf("%s: got %v", model, err)
			}
		}
	}
	c := models.Default("sage+rep")
	c.BlockNorm = "layer"
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "none or center or center-nodes or ball") {
		t.Errorf("got %v", err)
	}
}
