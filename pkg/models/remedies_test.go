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

// Models with remedies for over-smoothing pass the checks that all models must pass.
func TestRemedies(t *testing.T) {
	t.Parallel()
	modeltest.Check(t, "gcn", with(t, "norm-layers", "pair-si", "drop-edge", "0.2", "forward", "1"))
	modeltest.Check(t, "gcn", with(t, "half-hop", "1", "forward", "1"))
}

// With a normalisation after every layer, the models gcn and gat give the same logits and gradients as formulas on
// dense matrices.
func TestNormOfLayers(t *testing.T) {
	for _, norm := range []string{"layer", "pair", "pair-si"} {
		modeltest.Equals(t, "gcn", func(d *modeltest.Dense) (logits, penalty *Node) {
			x := encoded(d.Linear("in_", d.X))
			for range d.Config.Forward {
				x = normed(norm, 3, Add(x, gcn(d, d.SymNorm(Add(d.A, d.I)), x)))
			}
			return head(d, x), nil
		}, with(t, "norm-layers", norm, "norm-scale", "3"))
	}
	modeltest.Equals(t, "gat", func(d *modeltest.Dense) (logits, penalty *Node) {
		x := encoded(d.Linear("in_", d.X))
		for range d.Config.Forward {
			x = normed("pair", 1, Add(x, gat(d, Add(d.A, d.I), x)))
		}
		return head(d, x), nil
	}, with(t, "norm-layers", "pair", "heads", "2"))
}

// normed computes a normalisation of x without the code of package layers. It is LayerNorm if norm is "layer", PairNorm
// if norm is "pair", and PairNorm-SI, which scales each row separately, if norm is "pair-si". The argument scale is the
// length that PairNorm gives to rows; LayerNorm ignores it.
func normed(norm string, scale float64, x *Node) *Node {
	axis, epsilon := 0, 1e-6
	if norm == "layer" {
		axis, epsilon, scale = 1, 1e-5, math.Sqrt(float64(x.Shape().Dimensions[1]))
	}
	x = Sub(x, ReduceAndKeep(x, ReduceMean, axis))
	squares := ReduceAndKeep(Square(x), ReduceSum, 1)
	switch norm {
	case "layer":
		squares = AddScalar(DivScalar(squares, scale*scale), epsilon)
		return Div(x, Sqrt(squares))
	case "pair":
		squares = ReduceAndKeep(squares, ReduceMean, 0)
	}
	return MulScalar(Div(x, Sqrt(AddScalar(squares, epsilon))), scale)
}

// encoded and head are parts of the formulas of residual networks. encoded applies ReLU, the activation of the encoder
// and of the layers. head computes the logits from the features x, by two linear layers with ReLU between them.
func encoded(x *Node) *Node { return Max(x, ZerosLike(x)) }

func head(d *modeltest.Dense, x *Node) *Node {
	x = d.Linear("out.0", x)
	return d.Linear("out.2", Max(x, ZerosLike(x)))
}

const body = "stack.0.body."

// gcn returns the branch of a GCN layer, ReLU(a x W^T + b). The argument a is the normalised adjacency matrix.
func gcn(d *modeltest.Dense, a, x *Node) *Node {
	h := Dot(Dot(a, x).Product(), Transpose(d.Param(body+"lin.weight"), 0, 1)).Product()
	return encoded(Add(h, ExpandLeftToRank(d.Param(body+"bias"), 2)))
}

// gat returns the branch of a GAT layer, ReLU(u + b), where u is the mean of the results of all heads. The argument a
// is a matrix of zeros and ones. In row i, the softmax is over those entries j for which a_ij is 1.
func gat(d *modeltest.Dense, a, x *Node) (u *Node) {
	heads, width := d.Config.Heads, d.Config.Hidden
	for k := range heads {
		w := Slice(d.Param(body+"lin.weight"), AxisRange(k*width, (k+1)*width))
		y := Dot(x, Transpose(w, 0, 1)).Product()
		score := func(name string) *Node {
			v := Reshape(Slice(d.Param(body+name), AxisRange(), AxisElem(k)), width, 1)
			return Dot(y, v).Product()
		}
		s := Add(score("att_dst"), Transpose(score("att_src"), 0, 1))
		s = Max(s, MulScalar(s, 0.2))
		z := DivScalar(Dot(d.SoftmaxOver(s, a), y).Product(), float64(heads))
		if u == nil {
			u = z
		} else {
			u = Add(u, z)
		}
	}
	return encoded(Add(u, ExpandLeftToRank(d.Param(body+"bias"), 2)))
}

// In evaluation, models with DropEdge equal models without DropEdge. Training with all edges dropped has the same
// losses as training on a graph without edges.
func TestDropEdge(t *testing.T) {
	for name, layer := range map[string]func(d *modeltest.Dense, x *Node) *Node{
		"gcn": func(d *modeltest.Dense, x *Node) *Node { return gcn(d, d.SymNorm(Add(d.A, d.I)), x) },
		"gat": func(d *modeltest.Dense, x *Node) *Node { return gat(d, Add(d.A, d.I), x) },
	} {
		modeltest.Equals(t, name, func(d *modeltest.Dense) (logits, penalty *Node) {
			x := encoded(d.Linear("in_", d.X))
			for range d.Config.Forward {
				x = Add(x, layer(d, x))
			}
			return head(d, x), nil
		}, with(t, "drop-edge", "0.5"))
		enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
			g := modeltest.Tiny(t)
			bare, err := graphs.New(g.Name, g.NumNodes, nil, g.Features, g.NumFeatures, g.Labels, g.NumClasses,
				g.Splits)
			if err != nil {
				t.Fatal(err)
			}
			losses := func(g *graphs.Graph, p string) (all []float32) {
				c := modeltest.Small(name)
				with(t, "drop-edge", p)(&c)
				r, err := train.Fit(t.Context(), e, g, 0, c, nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, h := range r.History {
					all = append(all, float32(h.Loss))
				}
				return all
			}
			modeltest.Near(t, name+": losses without edges", losses(g, "1"), losses(bare, "0"))
		})
	}
}

// DropEdge together with Half-Hop is refused. Each of the two is refused in a model with reverse layers.
func TestRemediesRefused(t *testing.T) {
	c := models.Default("gcn")
	c.DropEdge, c.HalfHop = 0.5, 0.5
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "half-hop") {
		t.Errorf("got %v", err)
	}
	c = models.Default("gcn+rep")
	for _, name := range []string{"drop-edge", "half-hop"} {
		if c.Set(name, "0") != nil || c.Set(name, "0.5") == nil {
			t.Errorf("%s beside reverse layers: only 0 is right", name)
		}
	}
}
