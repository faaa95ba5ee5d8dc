package models_test

import (
	"fmt"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/train/modeltest"
)

// FSGNN equals the formula of its publication, for dense and for sparse features, and for several numbers of hops.
func TestFSGNNEqualsFormula(t *testing.T) {
	for _, c := range []struct {
		g      *graphs.Graph
		sparse bool
		hops   int
	}{{modeltest.Tiny(t), false, 2}, {sparseTiny(t), true, 1}, {sparseTiny(t), true, 3}} {
		if _, yes := models.Sparse(c.g); yes != c.sparse {
			t.Fatalf("the features of %q are kept sparse: %v", c.g.Name, yes)
		}
		t.Run(fmt.Sprint(c.g.Name, " ", c.hops), func(t *testing.T) {
			modeltest.EqualsOn(t, c.g, "fsgnn", fsgnnFormula(c.hops), func(config *train.Config) {
				if err := config.Set("hops", fmt.Sprint(c.hops)); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

func fsgnnFormula(hops int) modeltest.Formula {
	return func(d *modeltest.Dense) (logits, penalty *Node) {
		without, with := d.SymNorm(d.A), d.SymNorm(Add(d.A, d.I))
		features, a, loops := []*Node{d.X}, d.X, d.X
		for range hops {
			a, loops = Dot(without, a).Product(), Dot(with, loops).Product()
			features = append(features, a, loops)
		}
		share := Exp(d.Param("att"))
		share = Div(share, ReduceAllSum(share))
		var all []*Node
		for i, x := range features {
			h := d.Linear(fmt.Sprintf("fc1.%d", i), x)
			h = Div(h, Sqrt(ReduceAndKeep(Mul(h, h), ReduceSum, 1)))
			h = Mul(h, Reshape(Slice(share, AxisElem(i)), 1, 1))
			all = append(all, Max(h, ZerosLike(h)))
		}
		return d.Linear("fc2", Concatenate(all, 1)), nil
	}
}

// sparseTiny returns the graph [modeltest.Tiny] with other features, most of which are zero.
func sparseTiny(t *testing.T) *graphs.Graph {
	t.Helper()
	tiny := modeltest.Tiny(t)
	const features = 40
	x := make([]float32, tiny.NumNodes*features)
	for i := range tiny.NumNodes {
		x[i*features+3*i], x[i*features+i%4] = 1, 0.5
	}
	g, err := graphs.New("sparse tiny", tiny.NumNodes, slices.Clone(tiny.Edges), x, features, tiny.Labels,
		tiny.NumClasses, tiny.Splits)
	if err != nil {
		t.Fatal(err)
	}
	return g
}
