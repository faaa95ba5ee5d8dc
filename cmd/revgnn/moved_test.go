package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMoved makes a run on a folder again after the folder has moved, and looks at the times that are shown.
func TestMoved(t *testing.T) {
	dir := t.TempDir()
	before, after, records := filepath.Join(dir, "before"), filepath.Join(dir, "after"), filepath.Join(dir, "runs.sqlite")
	if err := os.Mkdir(before, 0o700); err != nil {
		t.Fatal(err)
	}
	nodes, edges := "id,label,x\n", "source,target\n"
	for i := range 20 {
		nodes += string(rune('a'+i)) + "," + []string{"00", "01"}[i/2%2] + "," + string(rune('0'+i%7)) + "\n"
		edges += string(rune('a'+i)) + "," + string(rune('a'+(i+1)%20)) + "\n"
	}
	for name, text := range map[string]string{"nodes.csv": nodes, "edges.csv": edges} {
		if err := os.WriteFile(filepath.Join(before, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	succeeds(t, "train", "--dataset", before, "--epochs", "3", "--splits", "0", "--engine", "go", "--runs", records)
	if o := succeeds(t, "runs", "list", "--runs", records); !strings.Contains(o.stdout, "started (UTC)") {
		t.Errorf("the list does not say of which zone its times are: %s", o.stdout)
	}
	if err := os.Rename(before, after); err != nil {
		t.Fatal(err)
	}
	fails(t, 1, "if the graph of the run has moved, say where it is by --dataset", "runs", "rerun", "last", "--runs", records)
	o := succeeds(t, "runs", "rerun", "last", "--runs", records, "--dataset", after)
	if !strings.Contains(o.stdout, "bit for bit") {
		t.Error(o.stdout)
	}
}
