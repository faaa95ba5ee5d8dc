package runs_test

import (
	"context"
	"fmt"
	"log"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// The example trains a model on three splits of a small Minesweeper board, and writes no files. If Options.Dir is the
// path of a folder, Run stores the results there. If Options.Resume is also true, Run continues an interrupted sweep
// from the files in this folder.
func ExampleSweep() {
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
	c.Forward, c.Reverse, c.Hidden, c.Epochs = 1, 2, 4, 3
	summary, err := runs.Sweep(ctx, e, g, c, runs.SweepOptions{
		Splits: []int{0, 1, 2},
		Split:  func(r *runs.SplitRecord, _ bool) { fmt.Println("split", r.Split, r.Status) },
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("all went well:", summary.OK(), summary.Metric, "over", len(summary.Splits), "splits")
	// Output:
	// split 0 ok
	// split 1 ok
	// split 2 ok
	// all went well: true roc_auc over 3 splits
}
