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

// orderedWith returns a function that gives settings of Ordered GNN values that are not the defaults.
func orderedWith(t *testing.T) func(c *train.Config) {
	return func(c *train.Config) {
		c.Forward = 3
		for name, value := range map[string]string{"chunk-size": "2", "input-layers": "2", "share-gate": "true"} {
			if err := c.Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestOrdered(t *testing.T) { modeltest.Check(t, "ordered-gnn", orderedWith(t)) }

// Ordered GNN equals its formulas.
func TestOrderedFormula(t *testing.T) {
	modeltest.Equals(t, "ordered-gnn", ordered)
	modeltest.Equals(t, "ordered-gnn", ordered, orderedWith(t))
}

// ordered computes Ordered GNN on dense matrices, without the model's own code. It computes the cumulative sums of the
// gates' softmax by adding up the columns of the softmax one by one.
func ordered(d *modeltest.Dense) (logits, penalty *Node) {
	x := d.X
	for i := range d.Config.Value("input-layers").(int) {
		x = d.Linear(fmt.Sprintf("linear_trans_in.%d", i), x)
		x = d.LayerNorm(fmt.Sprintf("norm_input.%d", i), Max(x, ZerosLike(x)))
	}
	size, share := d.Config.Value("chunk-size").(int), d.Config.Value("share-gate").(bool)
	gates := d.Config.Hidden / size
	last := make([]*Node, gates) // the gates of the layer before, each a column [n, 1]
	for l := range d.Config.Forward {
		m := Dot(d.RowNorm(d.A), x).Product()
		net := "tm_net.0"
		if !share {
			net = fmt.Sprintf("tm_net.%d", l)
		}
		p := Softmax(d.Linear(net, Concatenate([]*Node{x, m}, 1)), 1)
		var sum *Node
		var columns []*Node
		for k := range gates {
			column := func(x *Node, from, to int) *Node { return Slice(x, AxisRange(), AxisRange(from, to)) }
			if sum == nil {
				sum = column(p, k, k+1)
			} else {
				sum = Add(sum, column(p, k, k+1))
			}
			gate := sum
			if last[k] != nil {
				gate = OneMinus(Mul(OneMinus(last[k]), OneMinus(sum))) // equals last + (1 - last) sum
			}
			last[k] = gate
			columns = append(columns, Add(Mul(gate, column(x, k*size, (k+1)*size)),
				Mul(OneMinus(gate), column(m, k*size, (k+1)*size))))
		}
		x = d.LayerNorm(fmt.Sprintf("tm_norm.%d", l), Concatenate(columns, 1))
	}
	return d.Linear("linear_trans_out", x), nil
}

// The chunk size is the number of feature columns that share a gate. A chunk size that does not divide the width is
// refused.
func TestOrderedRefuses(t *testing.T) {
	c := models.Default("ordered-gnn")
	c.Hidden = 6
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "chunk-size") {
		t.Errorf("got %v", err)
	}
}
