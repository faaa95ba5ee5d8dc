package models_test

import (
	"fmt"
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/train/modeltest"
)

// GCN and GAT with Half-Hop give the same results as their formulas on the graph with slow nodes. (A slow node is a
// node that Half-Hop puts into an edge.) The function slowed makes this graph. The normalisation after every layer acts
// on slow nodes as well.
func TestHalfHop(t *testing.T) {
	g := modeltest.Tiny(t)
	for p, norm := range map[string]string{"1": "layer", "0.5": "none"} {
		var share float64
		fmt.Sscan(p, &share)
		chosen := models.ChosenNodes(g.NumNodes, share)
		for name, layer := range map[string]func(d *modeltest.Dense, a, x *Node) *Node{
			"gcn": func(d *modeltest.Dense, a, x *Node) *Node { return gcn(d, byTargets(a), x) }, "gat": gat,
		} {
			modeltest.Equals(t, name, func(d *modeltest.Dense) (logits, penalty *Node) {
				a, mix := slowed(d.Graph, g, chosen, 0.3)
				x := encoded(Dot(mix, d.Linear("in_", d.X)).Product())
				for range d.Config.Forward {
					x = Add(x, layer(d, a, x))
					if norm != "none" {
						x = normed(norm, 1, x)
					}
				}
				return head(d, Slice(x, AxisRange(0, g.NumNodes))), nil
			}, with(t, "half-hop", p, "half-hop-alpha", "0.3", "norm-layers", norm, "forward", "3"))
		}
	}
}

// byTargets returns D^-1/2 A D^-1/2 for the matrix A = a. The diagonal matrix D holds the row sums of A.
func byTargets(a *Node) *Node {
	r := Inverse(Sqrt(ReduceAndKeep(a, ReduceSum, 1)))
	return Mul(Mul(a, r), Transpose(r, 0, 1))
}

// slowed puts a slow node into each edge that leads into a chosen node. The result a is the adjacency with slow nodes
// and self loops. The result mix is the matrix that computes the features of all nodes from the features of the graph's
// own nodes. A slow node gets alpha times the features of its edge's source, plus 1 - alpha times those of the edge's
// target.
func slowed(on *Graph, g *graphs.Graph, chosen []bool, alpha float64) (a, mix *Node) {
	n := g.NumNodes
	var directed [][2]int // target and source
	for _, e := range g.Edges {
		directed = append(directed, [2]int{int(e[0]), int(e[1])}, [2]int{int(e[1]), int(e[0])})
	}
	size := n
	for _, e := range directed {
		if chosen[e[0]] {
			size++
		}
	}
	rows, shares := make([][]float64, size), make([][]float64, size)
	for i := range rows {
		rows[i], shares[i] = make([]float64, size), make([]float64, n)
		rows[i][i] = 1
		if i < n {
			shares[i][i] = 1
		}
	}
	slow := n
	for _, e := range directed {
		if !chosen[e[0]] {
			rows[e[0]][e[1]] = 1
			continue
		}
		rows[slow][e[0]], rows[slow][e[1]], rows[e[0]][slow] = 1, 1, 1
		shares[slow][e[1]], shares[slow][e[0]] = alpha, 1-alpha
		slow++
	}
	return Const(on, rows), Const(on, shares)
}

// TestTraceOfSlowNodes checks [train.Trace] for a model with Half-Hop, which adds slow nodes to the graph. Trace
// returns the features of the nodes after the model's layers, and what the head predicts from them. The test checks
// that there are predictions for the graph's own nodes only, none for slow nodes, and that the predictions from the
// features after the last layer are the model's predictions.
func TestTraceOfSlowNodes(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		g, c := modeltest.Board(t, 4), modeltest.Small("gcn")
		with(t, "half-hop", "1", "norm-layers", "pair", "forward", "4")(&c)
		weights := modeltest.Draw(t, g, c)
		trajectory, err := train.Trace(e, g, 0, c, weights, []int{0, 2, 4})
		if err != nil {
			t.Fatal(err)
		}
		last := trajectory.Forward[len(trajectory.Forward)-1]
		for i, p := range trajectory.Probability {
			if math.Abs(p-last.Probability[i]) > 1e-5 {
				t.Fatalf("node %d has probability %g, its last state %g", i, p, last.Probability[i])
			}
		}
		if len(trajectory.Forward) != 3 || len(last.Probability) != g.NumNodes {
			t.Errorf("%d states of %d nodes", len(trajectory.Forward), len(last.Probability))
		}
	})
}
