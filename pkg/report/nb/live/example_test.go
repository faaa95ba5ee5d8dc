package live_test

import (
	"fmt"
	"log"
	"os"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/report/nb/live"
	"github.com/revgnn/revgnn/pkg/train"
)

// This example trains two networks on a small Minesweeper graph. Compare shows a progress bar for each network: in a
// notebook below the cell, and here as text on stderr.
func ExampleCompare() {
	if err := os.Setenv(engine.Variable, engine.Go); err != nil { // otherwise the fastest engine trains
		log.Fatal(err)
	}
	defer os.Unsetenv(engine.Variable)
	board, err := datasets.Minesweeper{Rows: 8, Cols: 8, Mines: 0.2, Unknown: 0.3, Seed: 1}.Graph()
	if err != nil {
		log.Fatal(err)
	}
	settings := func(c *train.Config) { c.Hidden, c.Epochs = 8, 3 }
	runs := live.Compare(board, settings,
		live.Network{Name: "GCN", Model: "gcn", Forward: 2},
		live.Network{Name: "GCN+ReP", Base: "GCN", Model: "gcn+rep", Forward: 1, Reverse: 2})
	for _, run := range runs.Runs {
		fmt.Println(run.Name, "trained for", run.Epochs, "epochs, judged by", runs.Metric)
	}
	// Output:
	// GCN trained for 3 epochs, judged by ROC-AUC
	// GCN+ReP trained for 3 epochs, judged by ROC-AUC
}
