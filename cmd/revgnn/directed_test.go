package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/runs"
)

// TestRecordsTellDirections checks the checksums of graphs in run records. A record has the checksum of the graph as
// the model sees it. So the records of a model that reads the directions of edges have another checksum than the
// records of the other models. The test also checks that --resume finds the results of an earlier training.
func TestRecordsTellDirections(t *testing.T) {
	dir := t.TempDir()
	graph, file := filepath.Join(dir, "graph"), filepath.Join(dir, "runs.sqlite")
	if err := os.Mkdir(graph, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"nodes.csv":          "id,label,x,split\na,0,1,train\nb,1,2,train\nc,0,1,val\nd,1,2,val\n",
		"directed_edges.csv": "a,b\nc,b\nb,c\nd,c\n"} {
		if err := os.WriteFile(filepath.Join(graph, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	train := []string{"train", "--dataset", graph, "--engine", "go", "--hidden", "4", "--epochs", "2", "--runs", file}
	out := []string{"--model", "dir-gnn", "--out", filepath.Join(dir, "out")}
	succeeds(t, with(train, "--model", "gcn")...)
	succeeds(t, with(train, "--model", "dir-gnn", "--undirected")...)
	succeeds(t, with(train, out...)...)
	succeeds(t, with(train, with(out, "--resume")...)...)
	fails(t, 1, "undirected false, not true", with(train, with(out, "--resume", "--undirected")...)...)
	var all []runs.Record
	succeeds(t, "runs", "list", "--runs", file, "--json").document(t, &all)
	if len(all) != 3 || all[0].Checksum != all[1].Checksum || all[0].Checksum == all[2].Checksum {
		t.Errorf("got %+v", all)
	}
	if o := succeeds(t, "datasets", "stats", graph); !strings.Contains(o.stdout, "directed") {
		t.Errorf("got %s", o.stdout)
	}
}
