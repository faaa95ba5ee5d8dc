package modeltest

import (
	"math/rand/v2"
	"testing"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
)

// TestDegenerate trains every model on graphs such as people bring by mistake or have for a while, and predicts on one
// without edges.
func TestDegenerate(t *testing.T) {
	const n = 12
	var ring, half []graphs.Edge
	for i := range int32(n) {
		ring = append(ring, graphs.Edge{i, (i + 1) % n})
	}
	half = ring[:n/2] // the other nodes are isolated
	random, labels := make([]float32, 2*n), make([]int32, n)
	rng := rand.New(rand.NewPCG(1, 1))
	split := graphs.Split{Train: make([]bool, n), Val: make([]bool, n), Test: make([]bool, n)}
	for i := range n {
		random[2*i], random[2*i+1] = rng.Float32(), rng.Float32()
		labels[i] = int32(i % 2)
		*[]*bool{&split.Train[i], &split.Val[i], &split.Test[i]}[i/2%3] = true
	}
	constant := make([]float32, 2*n)
	for i := range constant {
		constant[i] = 1
	}
	made := map[string]*graphs.Graph{}
	for name, of := range map[string]struct {
		edges    []graphs.Edge
		features []float32
	}{"all features zero": {ring, make([]float32, 2*n)}, "constant features": {ring, constant},
		"no edges": {nil, random}, "isolated nodes": {half, random}} {
		g, err := graphs.New(name, n, of.edges, of.features, 2, labels, 2, []graphs.Split{split})
		fatal(t, err)
		made[name] = g
	}
	e := enginetest.Open(t, engine.Go)
	for _, model := range models.Names() {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			c := Small(model)
			c.Epochs = 2
			for name, g := range made {
				r, err := train.Fit(t.Context(), e, g, 0, c, nil)
				if err == nil && r.Status == train.OK {
					_, err = train.Predict(e, made["no edges"], 2, c, r.Weights, nil)
				}
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}
