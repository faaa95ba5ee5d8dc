package models_test

import (
	"fmt"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/train/modeltest"
)

// FAGCN equals the formula of its publication, for several numbers of layers and for two values of the setting "eps",
// which is ε in the formula.
func TestFAGCNEqualsFormula(t *testing.T) {
	for _, c := range []struct {
		layers int
		eps    float64
	}{{1, 0.3}, {3, 0.7}, {0, 0.3}} {
		modeltest.Equals(t, "fagcn", fagcnFormula, func(config *train.Config) {
			config.Forward = c.layers
			if err := config.Set("eps", fmt.Sprint(c.eps)); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func fagcnFormula(d *modeltest.Dense) (logits, penalty *Node) {
	x := d.Linear("t1", d.X)
	x = Max(x, ZerosLike(x))
	first, norm := x, d.SymNorm(d.A)
	for l := range d.Config.Forward {
		score := func(name string) *Node {
			return Dot(x, Transpose(d.Param(fmt.Sprintf("layers.%d.%s.weight", l, name)), 0, 1)).Product()
		}
		alpha := Tanh(Add(score("att_r"), Transpose(score("att_l"), 0, 1))) // [n, 1] and [1, n]
		eps := d.Config.Value("eps").(float64)
		x = Add(MulScalar(first, eps), Dot(Mul(alpha, norm), x).Product())
	}
	return d.Linear("t2", x), nil
}
