package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDegenerate describes, trains on, predicts and draws graphs such as people bring by mistake or have for a while.
// Each command gives an answer or one sentence. (Package modeltest has the same graphs for every model.)
func TestDegenerate(t *testing.T) {
	nodes := func(n int, row func(i int) string) (text string) {
		for i := range n {
			text += fmt.Sprintf("n%d,%s\n", i, row(i))
		}
		return text
	}
	ring := func(n int) string {
		text := "source,target\n"
		for i := range n {
			text += fmt.Sprintf("n%d,n%d\n", i, (i+1)%n)
		}
		return text
	}
	random := func(i int) string { return fmt.Sprintf("%d,%d.5,%d", i%2, i*7%5, i*3%11) }
	for name, of := range map[string]struct{ nodes, edges, refused string }{
		"no edges":          {"id,label,x,y\n" + nodes(30, random), "source,target\n", ""},
		"an empty file":     {"id,label,x,y\n" + nodes(30, random), "", ""},
		"one node":          {"id,label,x\nn0,0,1\n", "", "one class"},
		"two nodes":         {"id,label,x\nn0,0,1\nn1,1,2\n", "n0,n1\n", "nodes"},
		"zeros":             {"id,label,x\n" + nodes(30, func(i int) string { return fmt.Sprintf("%d,0", i%2) }), ring(30), ""},
		"no features":       {"id,label\n" + nodes(30, func(i int) string { return fmt.Sprint(i % 2) }), ring(30), "feature"},
		"constant features": {"id,label,x\n" + nodes(30, func(i int) string { return fmt.Sprintf("%d,1", i%3) }), ring(30), ""},
		"isolated nodes":    {"id,label,x,y\n" + nodes(30, random), ring(10), ""},
		"one class":         {"id,label,x\n" + nodes(30, func(i int) string { return fmt.Sprintf("0,%d", i%7) }), ring(30), "class"},
		"no labels":         {"id,label,x\n" + nodes(30, func(i int) string { return fmt.Sprintf(",%d", i%7) }), ring(30), "labels"},
		"a class without training nodes": {"id,label,split,x\n" + nodes(30, func(i int) string {
			return fmt.Sprintf("%d,%s,%d", i%3, []string{"train", "val", "test"}[i%3%2+i/3%2], i*7%5)
		}), ring(30), ""},
		"few nodes of a class": {"id,label,x\n" + nodes(30, func(i int) string { return fmt.Sprintf("%d,%d", i/29, i*7%5) }),
			ring(30), "class"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for file, text := range map[string]string{"nodes.csv": of.nodes, "edges.csv": of.edges} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			answered := func(args ...string) bool {
				o := revgnn(t, append(args, "--engine", "go")...)
				all, lines := o.stdout+o.stderr, strings.Split(strings.TrimSpace(o.stderr), "\n")
				last := lines[len(lines)-1]
				for _, text := range []string{"goroutine", "panic", "runtime error", "internal error", "NaN"} {
					if strings.Contains(all, text) {
						t.Errorf("revgnn %q says %q: %s", args, text, all)
					}
				}
				if o.code != 0 && (!strings.HasPrefix(last, "revgnn: ") || of.refused == "" || !strings.Contains(last, of.refused)) {
					t.Errorf("revgnn %q: exit status %d, %s", args, o.code, o.stderr)
				}
				return o.code == 0
			}
			answered("datasets", "stats", dir)
			answered("datasets", "stats", dir, "--json")
			out, runs := filepath.Join(dir, ".out"), filepath.Join(dir, ".runs.sqlite")
			trained := answered("train", "--dataset", dir, "--epochs", "3", "--splits", "0", "--reverse", "2", "--out", out,
				"--runs", runs)
			if trained != (of.refused == "") {
				t.Errorf("trained: %t", trained)
			}
			if !trained {
				return
			}
			weights := filepath.Join(out, "split0.safetensors")
			answered("predict", "--dataset", dir, "--weights", weights, "--out", filepath.Join(dir, ".p.csv"))
			answered("trace", "--dataset", dir, "--weights", weights)
			answered("runs", "show", "last", "--runs", runs, "--html", filepath.Join(dir, ".page.html"))
		})
	}
}
