package models_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers/activation"

	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/train/modeltest"
)

// network computes Platonov et al.'s network on dense matrices, without the model's own code. A layer consists of one
// or several modules, each with a skip connection around it. The argument perLayer is the number of modules in each
// layer. The modules of all layers together are numbered from k = 0, and the function module computes module k.
func network(perLayer int, module func(d *modeltest.Dense, k int, name string, z *Node) *Node) modeltest.Formula {
	return func(d *modeltest.Dense) (logits, penalty *Node) {
		x := activation.Gelu(d.Linear("input_linear", d.X))
		for k := range perLayer * d.Config.Forward {
			name := fmt.Sprintf("residual_modules.%d.", k)
			x = Add(x, module(d, k, name+"module.", d.LayerNorm(name+"normalization", x)))
		}
		return d.Linear("output_linear", d.LayerNorm("output_normalization", x)), nil
	}
}

func denseFFN(d *modeltest.Dense, name string, y *Node) *Node {
	return d.Linear(name+"linear_2", activation.Gelu(d.Linear(name+"linear_1", y)))
}

// column is column k of x.
func column(x *Node, k int) *Node { return Slice(x, AxisRange(), AxisElem(k)) }

// outer returns the matrix [n, n] whose entry i, j is s_j + t_i, for two columns s and t, [n, 1]. In GAT, this sum is
// the score of neighbour j at node i, before LeakyReLU and softmax.
func outer(s, t *Node) *Node { return Add(Transpose(s, 0, 1), t) }

func leaky(x *Node) *Node { return Where(GreaterThan(x, ZerosLike(x)), x, MulScalar(x, 0.2)) }

func change(t *testing.T, settings ...string) func(c *train.Config) {
	return func(c *train.Config) {
		for i := 0; i < len(settings); i += 2 {
			if err := c.Set(settings[i], settings[i+1]); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestSAGE(t *testing.T) {
	t.Parallel()
	modeltest.Check(t, "sage", change(t, "dropout", "0.2", "hidden-dim-multiplier", "2"))
	modeltest.Equals(t, "sage", network(1, func(d *modeltest.Dense, _ int, name string, z *Node) *Node {
		mean := Dot(d.RowNorm(d.A), z).Product()
		return denseFFN(d, name+"feed_forward_module.", Concatenate([]*Node{z, mean}, 1))
	}), change(t, "hidden-dim-multiplier", "2"))
}

func TestGATSep(t *testing.T) {
	modeltest.Equals(t, "gat-sep", network(1, func(d *modeltest.Dense, _ int, name string, z *Node) *Node {
		y := d.Linear(name+"input_linear", z)
		u := d.Linear(name+"attn_linear_u", y)
		v := Dot(y, Transpose(d.Param(name+"attn_linear_v.weight"), 0, 1)).Product()
		var h []*Node
		for c := range d.Config.Hidden {
			k := c % d.Config.Heads
			a := d.SoftmaxOver(leaky(outer(column(u, k), column(v, k))), d.A)
			h = append(h, Dot(a, column(y, c)).Product())
		}
		return denseFFN(d, name+"feed_forward_module.", Concatenate(append([]*Node{y}, h...), 1))
	}), change(t, "heads", "4", "hidden-dim-multiplier", "2"))
}

func TestGT(t *testing.T) {
	t.Parallel()
	for _, separate := range []bool{false, true} {
		formula := network(2, func(d *modeltest.Dense, k int, name string, z *Node) *Node {
			if k%2 == 1 {
				return denseFFN(d, name, z)
			}
			linear := func(part string) *Node { return d.Linear(name+part, z) }
			query, key, value := linear("attn_query"), linear("attn_key"), linear("attn_value")
			mask := d.A
			var h []*Node
			if separate {
				h = append(h, z)
			} else {
				mask = Add(d.A, d.I)
			}
			width := d.Config.Hidden / d.Config.Heads
			for k := range d.Config.Heads {
				of := func(x *Node) *Node { return Slice(x, AxisRange(), AxisRange(k*width, (k+1)*width)) }
				scores := DivScalar(Dot(of(key), Transpose(of(query), 0, 1)).Product(), math.Sqrt(float64(width)))
				h = append(h, Dot(d.SoftmaxOver(scores, mask), of(value)).Product())
			}
			return d.Linear(name+"output_linear", Concatenate(h, 1))
		})
		name := map[bool]string{false: "gt", true: "gt-sep"}[separate]
		modeltest.Equals(t, name, formula, change(t, "heads", "2"))
	}
	modeltest.Check(t, "gt-sep", change(t, "heads", "1", "dropout", "0.2"))
}

// The parameters have the names and shapes of Platonov et al.'s models. Each linear map and each normalisation has a
// weight and a bias. In the table below, a * at the end of a name marks a linear map without bias.
func TestPlatonovParameters(t *testing.T) {
	for model, modules := range map[string][]map[string][]int{
		"sage": {{"feed_forward_module.linear_1": {12, 8}, "feed_forward_module.linear_2": {4, 12}}},
		"gat-sep": {{"input_linear": {4, 4}, "attn_linear_u": {2, 4}, "attn_linear_v*": {2, 4},
			"feed_forward_module.linear_1": {12, 8}, "feed_forward_module.linear_2": {4, 12}}},
		"gt": {{"attn_query": {4, 4}, "attn_key": {4, 4}, "attn_value": {4, 4}, "output_linear": {4, 4}},
			{"linear_1": {12, 4}, "linear_2": {4, 12}}},
		"gt-sep": {{"attn_query": {4, 4}, "attn_key": {4, 4}, "attn_value": {4, 4}, "output_linear": {4, 8}},
			{"linear_1": {12, 4}, "linear_2": {4, 12}}},
	} {
		c := models.Default(model)
		c.Forward, c.Hidden = 2, 4
		if c.Heads > 0 {
			c.Heads = 2
		}
		if err := c.Set("hidden-dim-multiplier", "3"); err != nil {
			t.Fatal(err)
		}
		want := map[string][]int{}
		both := func(name string, shape []int) {
			want[strings.TrimSuffix(name, "*")+".weight"] = shape
			if !strings.HasSuffix(name, "*") {
				want[name+".bias"] = shape[:1]
			}
		}
		both("input_linear", []int{4, 7})
		both("output_normalization", []int{4})
		both("output_linear", []int{5, 4})
		for k := range 2 * len(modules) {
			name := fmt.Sprintf("residual_modules.%d.", k)
			both(name+"normalization", []int{4})
			for part, shape := range modules[k%len(modules)] {
				both(name+"module."+part, shape)
			}
		}
		params, err := models.Parameters(c, 7, 5)
		if err != nil {
			t.Fatal(err)
		}
		if len(params) != len(want) {
			t.Errorf("%s: %d parameters, want %d", model, len(params), len(want))
		}
		for _, p := range params {
			if !slices.Equal(p.Shape, want[p.Name]) {
				t.Errorf("%s: %s has shape %v, want %v", model, p.Name, p.Shape, want[p.Name])
			}
		}
	}
}

// A width that is not a multiple of the number of heads is refused, since all heads have the same number of columns.
func TestHeadsSideBySide(t *testing.T) {
	for _, model := range []string{"gat-sep", "gt", "gt-sep"} {
		c := models.Default(model)
		c.Hidden = 20
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "multiple") {
			t.Errorf("%s: %v, want an error that asks for a multiple", model, err)
		}
	}
}
