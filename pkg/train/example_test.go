package train_test

import (
	"context"
	"fmt"
	"log"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/train"
)

// The example fits a small GCN, with one forward layer and four reverse layers, to split 0 of a small Minesweeper
// board.
func ExampleFit() {
	ctx := context.Background()
	e, err := engine.Open(engine.Go)
	if err != nil {
		log.Fatal(err)
	}
	g, err := datasets.Load(ctx, "minesweeper-generated:rows=8,cols=8", datasets.Options{})
	if err != nil {
		log.Fatal(err)
	}
	c := train.Default("gcn+rep")
	c.Forward, c.Reverse, c.Hidden, c.Epochs, c.LearningRate = 1, 4, 8, 20, 0.01
	r, err := train.Fit(ctx, e, g, 0, c, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Status, "after", r.Epochs, "epochs; the loss fell:", r.History[19].Loss < r.History[0].Loss)

	p, err := train.Predict(e, g, g.NumClasses, c, r.Weights, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("probabilities:", len(p.Probabilities()), "of", g.NumNodes, "nodes and", g.NumClasses, "classes")
	// Output:
	// ok after 20 epochs; the loss fell: true
	// probabilities: 128 of 64 nodes and 2 classes
}
