package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// folder writes a dataset folder.
func folder(t *testing.T, nodes, edges string) string {
	dir := t.TempDir()
	for name, text := range map[string]string{"nodes.csv": nodes, "edges.csv": edges} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// customers writes a folder of 40 customers with the given cities, of whom every tenth has no age.
func customers(t *testing.T, cities ...string) string {
	nodes, edges := "id,label,joined,city,member,age\n", ""
	for i := range 40 {
		age := fmt.Sprint(20 + i)
		if i%10 == 0 {
			age = "NA"
		}
		nodes += fmt.Sprintf("n%d,%s,%d,%s,%v,%s\n", i, []string{"no", "no", "yes"}[i%3], 1700000000+i*i%7*100000,
			cities[i%len(cities)], i%4 == 0, age)
		edges += fmt.Sprintf("n%d,n%d\n", i, (i*i+1)%40)
	}
	return folder(t, nodes, edges)
}

// TestTableOfCustomers trains on texts, booleans and missing values, and predicts for another table.
func TestTableOfCustomers(t *testing.T) {
	graph, other, dir := customers(t, "Rome", "Oslo"), customers(t, "Rome", "Bern"), t.TempDir()
	var stats []struct {
		Features int
		Shares   []struct {
			Class string
			Nodes int
			Share float64
		} `json:"class_shares"`
		Columns []struct {
			Name, Kind string
			Missing    int
		} `json:"feature_columns"`
	}
	succeeds(t, "datasets", "stats", graph, "--json").document(t, &stats)
	if s := stats[0]; s.Features != 4 || s.Shares[1].Class != "yes" || s.Shares[1].Nodes != 13 ||
		s.Shares[1].Share != 13./40 || len(s.Columns) != 4 || s.Columns[3].Name != "age" || s.Columns[3].Missing != 4 {
		t.Errorf("got %+v", s)
	}
	list := "features: joined (numbers); city (2 categories); member (boolean); age (numbers, 4 missing)\n"
	if o := succeeds(t, "datasets", "stats", graph); !strings.Contains(o.stdout, list) ||
		!strings.Contains(o.stdout, "classes: no 67.5 % (27), yes 32.5 % (13)\n") {
		t.Errorf("got %s", o.stdout)
	}
	train := []string{"train", "--dataset", graph, "--engine", "go", "--model", "gcn", "--forward", "1", "--hidden",
		"4", "--epochs", "3", "--splits", "0"}
	fails(t, 1, `column "age": line 2 has no value: fill it in, leave the column out, or train with`, train...)
	fails(t, 1, "there are 2 classes", with(train, "--missing", "mean", "--class-weights", "1,2,3")...)
	prepared := with(train, "--missing", "mean", "--structure", "degree", "--class-weights", "yes=3")
	if o := succeeds(t, prepared...); !strings.Contains(o.stderr, list) ||
		!strings.Contains(o.stderr, `the columns "joined" (about 1.7e+09) and`) ||
		!strings.Contains(o.stderr, "each category of city (2); missing values marked in age; structure degree") {
		t.Errorf("got %s", o.stderr)
	}
	out := filepath.Join(dir, "run")
	succeeds(t, with(prepared, "--scale", "standardise", "--out", out)...)
	weights := filepath.Join(out, "split0.safetensors")
	o := succeeds(t, "predict", "--dataset", other, "--engine", "go", "--weights", weights, "--out",
		filepath.Join(dir, "p.csv"))
	if !strings.Contains(o.stderr, `note: column "city": training had no Bern: 20 nodes`) {
		t.Errorf("got %s", o.stderr)
	}
	succeeds(t, "predict", "--dataset", graph, "--engine", "go", "--weights", weights, "--split", "0", "--gradients",
		"--out", filepath.Join(dir, "p.npz"))
	fails(t, 1, "lacks the columns joined, city, member, age", "predict", "--dataset",
		folder(t, "id,x\na,1\nb,2\n", "a,b\n"), "--engine", "go", "--weights", weights, "--out",
		filepath.Join(dir, "p.csv"))
	succeeds(t, "bench", "--dataset", graph, "--engine", "go", "--model", "gcn", "--forward", "1", "--hidden", "4",
		"--epochs", "2", "--missing", "mean", "--scale", "standardise")
}
