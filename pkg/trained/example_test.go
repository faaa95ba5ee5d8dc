package trained_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/trained"
)

// The example trains a model on one Minesweeper board. Then it reads the model's file, and predicts the mines of
// another board.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "run")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	small(ctx, dir)

	model, err := trained.Read(filepath.Join(dir, "split0.safetensors"))
	if err != nil {
		log.Fatal(err)
	}
	board, err := datasets.Load(ctx, "minesweeper-generated:rows=6,cols=6,seed=2", datasets.Options{})
	if err != nil {
		log.Fatal(err)
	}
	prediction, err := model.Predict(nil, board)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(prediction.IDs), "nodes, classes", prediction.Classes)
	// For each node, here for node 0, the probabilities of the two classes add up to 1.
	fmt.Printf("of node 0: %.1f together\n", prediction.Of(0, 0)+prediction.Of(0, 1))
	// Output:
	// 36 nodes, classes [0 1]
	// of node 0: 1.0 together
}

// small trains a small model for a few epochs, and saves it in a folder, as 'revgnn train --out' does.
func small(ctx context.Context, dir string) {
	e, err := engine.Open(engine.Go)
	if err != nil {
		log.Fatal(err)
	}
	board, err := datasets.Load(ctx, "minesweeper-generated:rows=8,cols=8", datasets.Options{})
	if err != nil {
		log.Fatal(err)
	}
	c := train.Default("gcn+rep")
	c.Forward, c.Reverse, c.Hidden, c.Epochs = 1, 2, 4, 3
	if _, err := runs.Sweep(ctx, e, board, c, runs.SweepOptions{Splits: []int{0}, Dir: dir}); err != nil {
		log.Fatal(err)
	}
}
