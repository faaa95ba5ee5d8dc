package modeltest

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
)

// permutes checks that a model tells nodes apart only by their features and neighbours, not by their numbers. It
// renumbers the nodes at random: the logits of each node must stay the same. permutes returns the logits that the model
// computes before the nodes are renumbered.
func permutes(t *testing.T, e *engine.Engine, g *graphs.Graph, c train.Config) []float32 {
	t.Helper()
	p := rand.New(rand.NewPCG(1, 1)).Perm(g.NumNodes) // Node i becomes node p[i].
	weights := Draw(t, g, c)
	given, err := train.Predict(e, g, 0, c, weights, false)
	if err != nil {
		t.Fatal(err)
	}
	renumberWeights(t, g, c, weights, p)
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
	return given.Logits
}

// renumberWeights changes the parameters that have an entry for every node: the entry of node i moves to position p[i].
func renumberWeights(t *testing.T, g *graphs.Graph, c train.Config, weights map[string]train.Array, p []int) {
	t.Helper()
	params, err := models.ParametersOn(c.Config, g)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range params {
		if !a.Nodes {
			continue
		}
		old := slices.Clone(weights[a.Name].Values)
		for i, v := range old {
			row, node := i/len(p), i%len(p)
			weights[a.Name].Values[row*len(p)+p[node]] = v
		}
	}
}

// renumber returns the graph in which every node i has the number p[i]. The graph must have one split.
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
	if err == nil && g.Directed() {
		arcs := make([]graphs.Arc, len(g.Arcs))
		for i, a := range g.Arcs {
			arcs[i] = graphs.Arc{int32(p[a[0]]), int32(p[a[1]])}
		}
		out, err = out.WithArcs(arcs)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// wheel is [Tiny] with additional edges among the neighbours of node 5, so that no two nodes have the same neighbours.
func wheel(t *testing.T) *graphs.Graph {
	t.Helper()
	g := Tiny(t)
	edges := append(slices.Clone(g.Edges), []graphs.Edge{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {0, 4}}...)
	g, err := graphs.New("wheel", g.NumNodes, edges, g.Features, g.NumFeatures, g.Labels, g.NumClasses, g.Splits)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// overfits checks that a model can learn the labels of a small graph with random features by heart: without dropout,
// the loss must fall to nearly 0. For models whose loss cannot reach 0 ([models.Kind].Floor), all nodes must be
// classified right instead.
//
// The graph is [Tiny], where nodes 0 and 1 have the same only neighbour, node 5. Some models see a node's neighbours
// but not the node itself. Such a model cannot tell nodes 0 and 1 apart, and gets the graph [wheel] instead. The
// argument logits has the model's logits on [Tiny]: if those of nodes 0 and 1 are equal, the model is of this kind.
func overfits(t *testing.T, e *engine.Engine, c train.Config, logits []float32) {
	t.Helper()
	g := Tiny(t)
	if k := len(logits) / g.NumNodes; slices.Equal(logits[:k], logits[k:2*k]) {
		g = wheel(t)
	}
	g.Splits[0].Val = g.Splits[0].Train
	c.Hidden, c.Epochs, c.Patience, c.LearningRate, c.WeightDecay = min(c.Hidden, 1)*16, 400, 0, 0.02, 0
	zero(&c, func(s models.Setting) bool { return strings.Contains(s.Name, "drop") })
	r, err := train.Fit(t.Context(), e, g, 0, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	last := r.History[len(r.History)-1]
	learnt := last.Loss < 0.1
	if k, _ := models.Lookup(c.Model); k.Floor {
		learnt = last.Val == 1 && last.Loss < r.History[0].Loss/2
	}
	if r.Status != train.OK || !learnt {
		t.Errorf("%s: %s, and after %d epochs the loss of %d nodes is %g, from %g, and a share of %g is told right: "+
			"the loss should be near 0",
			c.Model, r.Status, r.Epochs, g.NumNodes, last.Loss, r.History[0].Loss, last.Val)
	}
}
