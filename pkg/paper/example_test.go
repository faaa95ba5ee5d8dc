package paper_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/revgnn/revgnn/pkg/paper"
	"github.com/revgnn/revgnn/pkg/runs"
)

// This example makes the paper's table 5 from the run records that come with revgnn.
func ExampleDocuments() {
	dir, err := os.MkdirTemp("", "paper")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := runs.Open(filepath.Join(dir, "runs.sqlite"))
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	if _, err := store.AddCommitted(); err != nil {
		log.Fatal(err)
	}
	profile := paper.Quick()
	items, err := paper.Choose([]string{"table5"})
	if err != nil {
		log.Fatal(err)
	}
	runner := runs.Runner{Scope: runs.Scope{Profile: profile.Profile}, Store: store}
	documents, _, err := paper.Documents(&runner, profile, items)
	if err != nil {
		log.Fatal(err)
	}
	d := documents[0]
	fmt.Println(d.Title)
	fmt.Println("tables:", len(d.Tables), "made of runs:", len(d.Records) > 0)
	// Output:
	// Table 5: statistics of the datasets
	// tables: 1 made of runs: true
}
