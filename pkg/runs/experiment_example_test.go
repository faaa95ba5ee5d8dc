package runs_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// The function work asks for the same training on two splits. The Runner makes the runs that have no record yet. A
// second call of Run would find both records, and make no run.
func Example_plan() {
	dir, err := os.MkdirTemp("", "runs")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := runs.Open(filepath.Join(dir, "runs.sqlite"))
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	c := train.Default("gcn")
	c.Forward, c.Hidden, c.Epochs = 2, 4, 3
	var epochs [2]int
	work := func(v *runs.View) { // Run calls this function again whenever there are new records
		for split := range 2 {
			task := runs.Training("minesweeper-generated:rows=8,cols=8", split, c)
			if a := runs.Ask[runs.Trained](v, task); a.OK() {
				epochs[split] = a.Outcome.Epochs
			}
		}
	}
	runner := runs.Runner{Store: store, EngineName: engine.Go,
		Engine: func() (*engine.Engine, error) { return engine.Open(engine.Go) },
		Load: func(ctx context.Context, name string) (*graphs.Graph, error) {
			return runs.Load(ctx, name, datasets.Options{})
		}}
	plan, err := runner.Plan(work)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("missing:", plan.Missing, "done:", plan.Done)
	if err := runner.Run(context.Background(), work); err != nil {
		log.Fatal(err)
	}
	fmt.Println("epochs by split:", epochs)
	// Output:
	// missing: 2 done: 0
	// epochs by split: [3 3]
}
