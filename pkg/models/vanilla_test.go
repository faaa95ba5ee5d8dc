package models_test

import (
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/train/modeltest"
)

func TestVanillaGCN(t *testing.T) {
	modeltest.Equals(t, "vanilla-gcn", func(d *modeltest.Dense) (logits, penalty *Node) {
		a := d.SymNorm(Add(d.A, d.I))
		conv := func(name string, x *Node) *Node {
			x = Dot(Dot(a, x).Product(), Transpose(d.Param(name+".lin.weight"), 0, 1)).Product()
			return Add(x, ExpandLeftToRank(d.Param(name+".bias"), 2))
		}
		h := conv("conv1", d.X)
		return conv("conv2", Max(h, ZerosLike(h))), nil
	})
}

func TestVanillaGAT(t *testing.T) {
	conv := func(d *modeltest.Dense, name string, x *Node, heads int) *Node {
		y := Dot(x, Transpose(d.Param(name+".lin.weight"), 0, 1)).Product()
		width := y.Shape().Dimensions[1] / heads
		var all []*Node
		for k := range heads {
			of := Slice(y, AxisRange(), AxisRange(k*width, (k+1)*width))
			score := func(vector string) *Node {
				return Dot(of, Reshape(Slice(d.Param(name+vector), AxisRange(), AxisElem(k)), width, 1)).Product()
			}
			a := d.SoftmaxOver(leaky(outer(score(".att_src"), score(".att_dst"))), Add(d.A, d.I))
			all = append(all, Dot(a, of).Product())
		}
		return Add(Concatenate(all, 1), ExpandLeftToRank(d.Param(name+".bias"), 2))
	}
	modeltest.Equals(t, "vanilla-gat", func(d *modeltest.Dense) (logits, penalty *Node) {
		h := conv(d, "conv1", d.X, d.Config.Heads)
		h = Where(GreaterThan(h, ZerosLike(h)), h, AddScalar(Exp(h), -1))
		return conv(d, "conv2", h, 1), nil
	}, change(t, "heads", "2", "attention-dropout", "0"))
}

// In training, vanilla-GAT drops attention weights, and the loss falls nevertheless. In evaluation, it drops none: with
// the parameters that training returned, Predict computes the same logits that training returned.
func TestVanillaGATDropsAttention(t *testing.T) {
	c := modeltest.Small("vanilla-gat")
	change(t, "heads", "2", "attention-dropout", "0.6")(&c)
	g := modeltest.Board(t, 10)
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		r, err := train.Fit(t.Context(), e, g, 0, c, nil)
		if err != nil {
			t.Fatal(err)
		}
		if first, last := r.History[0].Loss, r.History[len(r.History)-1].Loss; r.Status != train.OK || !(last < first) {
			t.Errorf("status %s (%s), loss %g to %g", r.Status, r.Message, first, last)
		}
		p, err := train.Evaluate(e, g, 0, c, r.Weights, false)
		if err != nil {
			t.Fatal(err)
		}
		modeltest.Near(t, "logits", p.Logits, r.Logits)
	})
}

// The parameters of vanilla-GCN and vanilla-GAT have the names and shapes of the parameters of PyTorch Geometric's
// layers.
func TestVanillaParameters(t *testing.T) {
	for model, want := range map[string]map[string][]int{
		"vanilla-gcn": {"lin.weight": {0, 0}, "bias": {0}},
		"vanilla-gat": {"lin.weight": {0, 0}, "bias": {0}, "att_src": {1, 8, 2}, "att_dst": {1, 8, 2}},
	} {
		c := models.Default(model)
		c.Hidden = 16
		params, err := models.Parameters(c, 7, 5)
		if err != nil {
			t.Fatal(err)
		}
		if len(params) != 2*len(want) {
			t.Errorf("%s: %d parameters, want %d", model, len(params), 2*len(want))
		}
		for _, p := range params {
			layer, name, _ := strings.Cut(p.Name, ".")
			shape := want[name]
			switch {
			case name == "lin.weight" && layer == "conv1":
				shape = []int{16, 7}
			case name == "lin.weight":
				shape = []int{5, 16}
			case name == "bias" && layer == "conv1":
				shape = []int{16}
			case name == "bias":
				shape = []int{5}
			case layer == "conv2":
				shape = []int{1, 1, 5}
			}
			if shape == nil || !slices.Equal(p.Shape, shape) {
				t.Errorf("%s: %s has shape %v, want %v", model, p.Name, p.Shape, shape)
			}
		}
	}
}
