package runs

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/graphs"
)

const randomName = "random:nodes=%d,edges=%d"

// randomFeatures is the number of features of a node. It is small, as in Minesweeper, which has 7.
const randomFeatures = 8

// RandomGraph returns the name of a random graph, which [Load] makes.
func RandomGraph(nodes, edges int) string { return fmt.Sprintf(randomName, nodes, edges) }

// Load is [datasets.Load], and makes the graphs that [RandomGraph] names.
func Load(ctx context.Context, name string, o datasets.Options) (*graphs.Graph, error) {
	if nodes, edges, ok := isRandom(name); ok {
		return randomGraph(name, nodes, edges)
	}
	return datasets.Load(ctx, name, o)
}

func isRandom(name string) (nodes, edges int, ok bool) {
	n, err := fmt.Sscanf(name, randomName, &nodes, &edges)
	return nodes, edges, err == nil && n == 2
}

// randomGraph joins random pairs of nodes, for measurements in which the numbers of nodes and edges vary separately. It
// has two classes; the first half of the nodes is for training.
func randomGraph(name string, nodes, edges int) (*graphs.Graph, error) {
	if nodes < 4 || edges < 1 || edges > nodes*(nodes-1)/4 {
		return nil, fmt.Errorf("%s: choose at least 4 nodes, and at most half of the edges that they can have", name)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	seen := map[graphs.Edge]bool{}
	list := make([]graphs.Edge, 0, edges)
	for len(list) < edges {
		a, b := int32(rng.IntN(nodes)), int32(rng.IntN(nodes))
		if e := (graphs.Edge{min(a, b), max(a, b)}); a != b && !seen[e] {
			seen[e] = true
			list = append(list, e)
		}
	}
	features := make([]float32, nodes*randomFeatures)
	for i := range features {
		features[i] = float32(rng.NormFloat64())
	}
	labels := make([]int32, nodes)
	split := graphs.Split{Train: make([]bool, nodes), Val: make([]bool, nodes), Test: make([]bool, nodes)}
	for i := range labels {
		labels[i] = int32(i % 2)
		*[]*bool{&split.Train[i], &split.Train[i], &split.Val[i], &split.Test[i]}[4*i/nodes] = true
	}
	return graphs.New(name, nodes, list, features, randomFeatures, labels, 2, []graphs.Split{split})
}
