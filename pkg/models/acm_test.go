package models_test

import (
	"fmt"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/train/modeltest"
)

// The model ACM-GCN equals the formula of its publication, for dense and for sparse features, and for several numbers
// of layers and of classes.
func TestACMEqualsFormula(t *testing.T) {
	for name, c := range map[string]struct {
		g      *graphs.Graph
		layers int
	}{"dense": {modeltest.Tiny(t), 2}, "sparse": {sparseTiny(t), 1}, "two classes": {twoClasses(t), 3}} {
		t.Run(name, func(t *testing.T) {
			modeltest.EqualsOn(t, c.g, "acm-gcn", acmFormula, func(config *train.Config) { config.Forward = c.layers })
		})
	}
}

func acmFormula(d *modeltest.Dense) (logits, penalty *Node) {
	x, relu := d.X, func(x *Node) *Node { return Max(x, ZerosLike(x)) }
	low := d.RowNorm(Add(d.A, d.I))
	for l := range d.Config.Forward {
		p := func(name string) *Node { return d.Param(fmt.Sprintf("gcns.%d.%s", l, name)) }
		filters := map[string]*Node{"low": low, "high": Sub(d.I, low), "mlp": d.I}
		var scores, h []*Node
		for _, c := range []string{"low", "high", "mlp"} {
			channel := relu(Dot(Dot(filters[c], x).Product(), p("weight_"+c)).Product())
			s := Dot(channel, p("att_vec_"+c)).Product()
			h, scores = append(h, channel), append(scores, Div(OnesLike(s), Add(OnesLike(s), Exp(Neg(s)))))
		}
		share := Exp(DivScalar(Dot(Concatenate(scores, 1), p("att_vec")).Product(), 3))
		share = Div(share, ReduceAndKeep(share, ReduceSum, 1))
		x = ZerosLike(h[0])
		for i := range h {
			x = Add(x, Mul(Slice(share, AxisRange(), AxisElem(i)), h[i]))
		}
		x = relu(x)
	}
	if d.Outputs == 1 {
		x = Sub(Slice(x, AxisRange(), AxisElem(1)), Slice(x, AxisRange(), AxisElem(0)))
	}
	return x, nil
}

// twoClasses returns the graph [modeltest.Tiny], but with two classes.
func twoClasses(t *testing.T) *graphs.Graph {
	t.Helper()
	g := *modeltest.Tiny(t)
	g.NumClasses, g.Labels = 2, append([]int32{}, g.Labels...)
	for i := range g.Labels {
		g.Labels[i] %= 2
	}
	return &g
}

func TestACMNeedsALayer(t *testing.T) {
	c := models.Default("acm-gcn")
	c.Forward = 0
	if err := c.Validate(); err == nil || err.Error() !=
		"forward is 0: acm-gcn needs 1 layer at least, since the last one gives the logits" {
		t.Errorf("no layers: %v", err)
	}
}
