package runs_test

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/revgnn/revgnn/pkg/runs"
)

// The example records a training in a file of run records, and finds it again by its dataset.
func Example() {
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
	run := runs.Begin(runs.Train) // fills in time, versions and machine
	run.Dataset, run.Model, run.Split, run.Engine, run.Status = "cora", "gcn", 0, "go", runs.OK
	run.Outcome = json.RawMessage(`{"test": 0.81}`)
	if _, err := store.Add(run); err != nil {
		log.Fatal(err)
	}

	found, err := store.Find(runs.Query{Dataset: "cora", Status: []string{runs.OK}})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range found {
		fmt.Println(r.Model, "on split", r.Split, string(r.Outcome))
	}
	// Output: gcn on split 0 {"test":0.81}
}
