package modeltest

import (
	"math/rand/v2"
	"testing"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/train"
)

// permutes checks that a model knows nodes by their place in the graph alone: renumbering them renumbers its logits.
func permutes(t *testing.T, e *engine.Engine, c train.Config) {
	t.Helper()
	g := Tiny(t)
	p := rand.New(rand.NewPCG(1, 1)).Perm(g.NumNodes) // node i becomes node p[i]
	weights := Draw(t, g, c)
	given, err := train.Predict(e, g, 0, c, weights, false)
	if err != nil {
		t.Fatal(err)
	}
	renumbered, err := train.Predict(e, renumber(t, g, p), 0, c, weights, false)
	if err != nil {
		t.Fatal(err)
	}
	k := given.Outputs
	back := make([]float32, len(given.Logits))
	for i, to := range p {
		copy(back[i*k:(i+1)*k], renumbered.Logits[to*k:(to+1)*k])
	}
	Near(t, c.Model+": the logits of renumbered nodes", back, given.Logits)
}

// renumber gives every node i of a graph of one split the number p[i].
func renumber(t *testing.T, g *graphs.Graph, p []int) *graphs.Graph {
	t.Helper()
	n, f := g.NumNodes, g.NumFeatures
	edges, x, labels := make([]graphs.Edge, len(g.Edges)), make([]float32, n*f), make([]int32, n)
	s := graphs.Split{Train: make([]bool, n), Val: make([]bool, n), Test: make([]bool, n)}
	for i, e := range g.Edges {
		edges[i] = graphs.Edge{int32(p[e[0]]), int32(p[e[1]])}
	}
	for i, to := range p {
		copy(x[to*f:(to+1)*f], g.Features[i*f:(i+1)*f])
		labels[to] = g.Labels[i]
		s.Train[to], s.Val[to], s.Test[to] = g.Splits[0].Train[i], g.Splits[0].Val[i], g.Splits[0].Test[i]
	}
	out, err := graphs.New(g.Name, n, edges, x, f, labels, g.NumClasses, []graphs.Split{s})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// overfits checks that a model can learn the labels of a small graph's nodes, whose features are random, by heart.
func overfits(t *testing.T, e *engine.Engine, c train.Config) {
	t.Helper()
	g := Tiny(t)
	c.Hidden, c.Epochs, c.Patience, c.LearningRate, c.WeightDecay = min(c.Hidden, 1)*16, 400, 0, 0.02, 0
	r, err := train.Fit(t.Context(), e, g, 0, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	if loss := r.History[len(r.History)-1].Loss; r.Status != train.OK || !(loss < 0.1) {
		t.Errorf("%s: %s, and after %d epochs the loss of %d nodes is %g, from %g: it should be near 0",
			c.Model, r.Status, r.Epochs, g.NumNodes, loss, r.History[0].Loss)
	}
}
