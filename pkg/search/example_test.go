package search_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/search"
	"github.com/revgnn/revgnn/pkg/train"
)

// This example searches for the learning rate and the width of GCN on split 0 of a small Minesweeper board. Each of
// four trials trains for 2 epochs. The best trials continue to 4 epochs.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "search")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := runs.Open(filepath.Join(dir, "runs.sqlite"))
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	space, err := search.ParseSpace([]byte(`{"name": "small", "about": "an example",
		"rules": [{"models": ["gcn"], "settings": {"lr": {"log": [0.001, 0.1]}, "hidden": {"choice": [4, 8]}}}]}`))
	if err != nil {
		log.Fatal(err)
	}
	const board = "minesweeper-generated:rows=8,cols=8"
	g, err := datasets.Load(ctx, board, datasets.Options{})
	if err != nil {
		log.Fatal(err)
	}
	blind, err := search.Blindfolds(g, []int{0}) // the graph for the search, without test nodes
	if err != nil {
		log.Fatal(err)
	}
	e, err := engine.Open(engine.Go)
	if err != nil {
		log.Fatal(err)
	}
	c := train.Default("gcn")
	c.Forward, c.Epochs = 2, 4
	s := search.Search{Dataset: board, Graphs: blind, Space: space, Base: c, Store: store, Engine: e,
		Schedule: search.NewSchedule(4, 2, 2, 4)}
	r, err := s.Run(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("rungs:", r.Schedule.Rungs, "trials:", len(r.Trials), "complete:", r.Complete)
	fmt.Println("chosen, trained for", r.Best.Epochs, "epochs:", len(r.Choice().Settings) > 0)
	// Output:
	// rungs: [2 4] trials: 4 complete: true
	// chosen, trained for 4 epochs: true
}
