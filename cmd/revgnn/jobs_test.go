package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestJobs trains on splits side by side, and one after the other: the weights must be the same bytes.
func TestJobs(t *testing.T) {
	dir := t.TempDir()
	sweep := func(out string, more ...string) string {
		return succeeds(t, append([]string{"train", "--dataset", "minesweeper-generated:rows=10,cols=10", "--model",
			"gcn+rep", "--forward", "1", "--reverse", "2", "--hidden", "8", "--epochs", "3", "--splits", "0-3", "--threads", "1",
			"--engine", "go", "--out", filepath.Join(dir, out)}, more...)...).stderr
	}
	sweep("one")
	for range 2 { // the second time, what the first left is set aside
		if said := sweep("two", "--jobs", "3"); strings.Count(said, "kept from before") != 4 {
			t.Errorf("the processes left other results than four:\n%s", said)
		}
	}
	for k := range 4 {
		name := fmt.Sprintf("split%d.safetensors", k)
		a, err := os.ReadFile(filepath.Join(dir, "one", name))
		if err != nil {
			t.Fatal(err)
		}
		if b, _ := os.ReadFile(filepath.Join(dir, "two", name)); !bytes.Equal(a, b) {
			t.Errorf("%s differs", name)
		}
	}
	t.Setenv("PATH", t.TempDir()) // no Slurm
	for want, flags := range map[string][]string{"choose local or slurm": {"--on", "k8s"},
		"goes with --on slurm": {"--sbatch", "time=1"}, "revgnn's own": {"--on", "slurm", "--sbatch", "array=3"}} {
		fails(t, 2, want, append([]string{"search", "--dataset", "minesweeper-generated", "--model", "gcn", "--trials", "1",
			"--runs", filepath.Join(dir, "r.sqlite")}, flags...)...)
	}
	fails(t, 1, "there is no squeue here", "search", "--dataset", "minesweeper-generated:rows=10,cols=10", "--model", "gcn",
		"--trials", "1", "--engine", "go", "--runs", filepath.Join(dir, "r.sqlite"), "--on", "slurm")
	fails(t, 2, "--jobs is 0", "train", "--dataset", "cora", "--model", "gcn", "--jobs", "0")
}
