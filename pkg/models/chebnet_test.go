package models_test

import (
	"fmt"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/train/modeltest"
)

func TestChebNet(t *testing.T) {
	t.Parallel()
	formula := func(d *modeltest.Dense) (logits, penalty *Node) {
		order, l := d.Config.Value("order").(int), Neg(d.SymNorm(d.A))
		layer := func(name string, x *Node) *Node {
			y := BroadcastToDims(Reshape(d.Param(name+".bias"), 1, -1), 12, d.Param(name+".bias").Shape().Size())
			for k := range order + 1 {
				t := []*Node{d.I, l}
				for len(t) <= k {
					t = append(t, Sub(MulScalar(Dot(l, t[len(t)-1]).Product(), 2), t[len(t)-2]))
				}
				w := d.Param(fmt.Sprintf("%s.lins.%d.weight", name, k))
				y = Add(y, Dot(t[k], Dot(x, Transpose(w, 0, 1)).Product()).Product())
			}
			return y
		}
		h := layer("conv1", d.X)
		return layer("conv2", Max(h, ZerosLike(h))), nil
	}
	modeltest.Equals(t, "chebnet", formula)
	modeltest.Equals(t, "chebnet", formula, with(t, "order", "4"))
	sparse := fewFeatures(t)
	modeltest.EqualsOn(t, sparse, "chebnet", formula)
	modeltest.EqualsOn(t, sparse, "chebnet", formula, with(t, "order", "3"))
	modeltest.Check(t, "chebnet", with(t, "order", "3"))
}
