package runs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// recorded trains a small model, and returns the record of this training. The record has the details that a page shows.
func recorded() (run runs.Record) {
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
	_, err = runs.Sweep(ctx, e, g, c, runs.SweepOptions{Splits: []int{0},
		Record: func(r runs.Record, _ bool) { run = r }})
	if err != nil {
		log.Fatal(err)
	}
	return run
}

// This example prints the command that repeats a training.
func ExampleCommand() {
	run := recorded()
	var c train.Config
	if err := json.Unmarshal(run.Config, &c); err != nil {
		log.Fatal(err)
	}
	command := runs.Command(&run, c)
	fmt.Println(strings.ReplaceAll(command, " --", " \\\n  --"))
	// Output:
	// revgnn train \
	//   --dataset minesweeper-generated:rows=8,cols=8,mines=0.2,unknown=0.5,seed=1 \
	//   --model gcn+rep \
	//   --splits 0 \
	//   --forward=1 \
	//   --reverse=2 \
	//   --hidden=4 \
	//   --epochs=3 \
	//   --engine go \
	//   --runs runs.sqlite
}

// This example writes a page to a file. The example is compiled but not run, since the page needs ECharts, a JavaScript
// library for figures, which is installed only by `make setup`.
func ExamplePage() {
	run := recorded()
	page, err := runs.Page(&run)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("run.html", []byte(page), 0o644); err != nil {
		log.Fatal(err)
	}
}
