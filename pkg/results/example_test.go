package results_test

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/revgnn/revgnn/pkg/results"
)

// The example records a training in a file of run records, and finds it again by its dataset.
func Example() {
	dir, err := os.MkdirTemp("", "runs")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := results.Open(filepath.Join(dir, "runs.sqlite"))
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	run := results.Begin(results.Train) // fills in time, versions and machine
	run.Dataset, run.Model, run.Split, run.Engine, run.Status = "cora", "gcn", 0, "go", results.OK
	run.Outcome = json.RawMessage(`{"test": 0.81}`)
	if _, err := store.Add(run); err != nil {
		log.Fatal(err)
	}

	found, err := store.Find(results.Query{Dataset: "cora", Status: []string{results.OK}})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range found {
		fmt.Println(r.Model, "on split", r.Split, string(r.Outcome))
	}
	// Output: gcn on split 0 {"test":0.81}
}
