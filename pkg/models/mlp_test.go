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
	// If most node features are zero and dropout acts on them, the model stores them as a pattern. The graph of
	// fewFeatures tests this case.
	modeltest.EqualsOn(t, fewFeatures(t), "mlp", formula, with(t, "dropout", "0.5"))
}

// perceptron is the formula of the model mlp. Several other models begin with it.
func perceptron(d *modeltest.Dense) *Node {
	h := d.Linear("lin1", d.X)
	return d.Linear("lin2", Max(h, ZerosLike(h)))
}

// with returns a function that changes settings of a configuration. The argument settings is a list: name, value, name,
// value, …
func with(t *testing.T, settings ...string) func(c *train.Config) {
	return func(c *train.Config) {
		for i := 0; i < len(settings); i += 2 {
			if err := c.Set(settings[i], settings[i+1]); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// fewFeatures is the graph [modeltest.Tiny] with 40 other features. Only one or two features of each node are not zero.
func fewFeatures(t *testing.T) *graphs.Graph {
	g := *modeltest.Tiny(t)
	g.NumFeatures = 40
	g.Features = make([]float32, g.NumNodes*g.NumFeatures)
	for i := range g.NumNodes {
		g.Features[i*g.NumFeatures+3*i], g.Features[i*g.NumFeatures+i/2] = 1, 0.5
	}
	return &g
}
