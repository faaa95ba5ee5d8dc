package models_test

import (
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/train/modeltest"
)

func TestMLP(t *testing.T) {
	formula := func(d *modeltest.Dense) (logits, penalty *Node) { return perceptron(d), nil }
	modeltest.Equals(t, "mlp", formula)
	// If training drops some of the features, newFeatures stores sparse features as a pattern. This is tested, too.
	modeltest.EqualsOn(t, fewFeatures(t), "mlp", formula, with(t, "dropout", "0.5"))
}

// perceptron is the formula of the model mlp. Several other models begin with it.
func perceptron(d *modeltest.Dense) *Node {
	h := d.Linear("lin1", d.X)
	return d.Linear("lin2", Max(h, ZerosLike(h)))
}

// with returns a function that sets settings. The settings are given as name, value, name, value, …
func with(t *testing.T, settings ...string) func(c *train.Config) {
	return func(c *train.Config) {
		for i := 0; i < len(settings); i += 2 {
			if err := c.Set(settings[i], settings[i+1]); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// fewFeatures is [modeltest.Tiny] with 40 features, of which each node has one or two.
func fewFeatures(t *testing.T) *graphs.Graph {
	g := *modeltest.Tiny(t)
	g.NumFeatures = 40
	g.Features = make([]float32, g.NumNodes*g.NumFeatures)
	for i := range g.NumNodes {
		g.Features[i*g.NumFeatures+3*i], g.Features[i*g.NumFeatures+i/2] = 1, 0.5
	}
	return &g
}
