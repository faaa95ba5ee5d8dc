package models_test

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/train/modeltest"
)

// The logits of GBK-GNN and the loss of its gates equal the formulas of the publication. In the first case, the graph
// has fewer features than the layers are wide, and in the second case it has more. Both cases have three classes. The
// third case has two classes.
func TestGBKFormula(t *testing.T) {
	modeltest.Equals(t, "gbk-gnn", gbk)
	modeltest.Equals(t, "gbk-gnn", gbk, func(c *train.Config) {
		c.Hidden, c.Forward = 4, 3
		if err := c.Set("lambda", "0.5"); err != nil {
			t.Fatal(err)
		}
	})
	modeltest.EqualsOn(t, modeltest.Board(t, 4), "gbk-gnn", gbk)
}

// gbk is the formula of GBK-GNN on dense matrices.
func gbk(d *modeltest.Dense) (logits, penalty *Node) {
	train := ReduceAndKeep(d.Known, ReduceSum, 1)
	pair := func(u, v *Node) *Node { return Dot(u, Transpose(v, 0, 1)).Product() } // u_i · v_j
	both := Mul(d.A, pair(train, train))
	x, penalty := d.X, Scalar(d.Graph, d.A.DType(), 0)
	for l := range d.Config.Forward {
		name := fmt.Sprintf("conv%d.", l+1)
		kernel := func(part string) *Node { return Dot(x, Transpose(d.Param(name+part+".weight"), 0, 1)).Product() }
		in := x.Shape().Dimensions[1]
		w := d.Param(name + "gate.weight")
		own := Dot(x, Transpose(Slice(w, AxisRange(), AxisRange(0, in)), 0, 1)).Product()
		other := Dot(x, Transpose(Slice(w, AxisRange(), AxisRange(in, 2*in)), 0, 1)).Product()
		alpha := Sigmoid(Add(Add(own, Transpose(other, 0, 1)), ExpandLeftToRank(d.Param(name+"gate.bias"), 2)))
		mean := d.RowNorm(d.A)
		m := Add(Dot(Mul(mean, alpha), kernel("lin_p")).Product(),
			Dot(Mul(mean, OneMinus(alpha)), kernel("lin_n")).Product())
		x = Add(Add(kernel("lin_r"), m), ExpandLeftToRank(d.Param(name+"bias"), 2))
		if l < d.Config.Forward-1 {
			x = Max(x, ZerosLike(x))
		}
		same := pair(d.Known, d.Known)
		bce := Neg(Add(Mul(same, Log(alpha)), Mul(OneMinus(same), Log(OneMinus(alpha)))))
		penalty = Add(penalty, Div(ReduceAllSum(Mul(both, bce)), ReduceAllSum(both)))
	}
	lambda := d.Config.Value("lambda").(float64)
	return x, MulScalar(penalty, lambda)
}

// GBK-GNN with one layer is refused, since it needs a layer that reads the features and another one that gives the
// logits.
func TestGBKRefuses(t *testing.T) {
	c := models.Default("gbk-gnn")
	c.Forward = 1
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "forward") {
		t.Errorf("got %v", err)
	}
}
