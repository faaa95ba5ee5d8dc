package models_test

import (
	"fmt"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers/activation"

	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/train/modeltest"
)

func TestSAGE(t *testing.T) {
	modeltest.Check(t, "sage")
	modeltest.Check(t, "sage", func(c *train.Config) {
		c.Dropout = 0.2
		if err := c.Set("hidden-dim-multiplier", "2"); err != nil {
			t.Fatal(err)
		}
	})
}

// The parameters have the names and shapes of Platonov et al.'s model.
func TestSAGEParameters(t *testing.T) {
	c := models.Default("sage")
	c.Forward, c.Hidden = 2, 4
	if err := c.Set("hidden-dim-multiplier", "3"); err != nil {
		t.Fatal(err)
	}
	params, err := models.Parameters(c, 7, 5)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]int{"input_linear": {4, 7}, "output_normalization": {4}, "output_linear": {5, 4}}
	for _, layer := range []string{"residual_modules.0.", "residual_modules.1."} {
		want[layer+"normalization"] = []int{4}
		want[layer+"module.feed_forward_module.linear_1"] = []int{12, 8}
		want[layer+"module.feed_forward_module.linear_2"] = []int{4, 12}
	}
	got := map[string][]int{}
	for _, p := range params {
		got[p.Name] = p.Shape
	}
	if len(got) != 2*len(want) {
		t.Errorf("%d parameters, want %d: %v", len(got), 2*len(want), got)
	}
	for name, shape := range want {
		if !slices.Equal(got[name+".weight"], shape) || !slices.Equal(got[name+".bias"], shape[:1]) {
			t.Errorf("%s: weight %v and bias %v, want %v and %v",
				name, got[name+".weight"], got[name+".bias"], shape, shape[:1])
		}
	}
}

// The network is that of the formula.
func TestSAGEFormula(t *testing.T) {
	modeltest.Equals(t, "sage", func(d *modeltest.Dense) (logits, penalty *Node) {
		x := activation.Gelu(d.Linear("input_linear", d.X))
		for l := range d.Config.Forward {
			layer := fmt.Sprintf("residual_modules.%d.", l)
			z := d.LayerNorm(layer+"normalization", x)
			ffn := layer + "module.feed_forward_module.linear_"
			mean := Dot(d.RowNorm(d.A), z).Product()
			h := activation.Gelu(d.Linear(ffn+"1", Concatenate([]*Node{z, mean}, 1)))
			x = Add(x, d.Linear(ffn+"2", h))
		}
		return d.Linear("output_linear", d.LayerNorm("output_normalization", x)), nil
	})
}
