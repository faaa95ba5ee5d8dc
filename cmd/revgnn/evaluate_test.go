package main

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/runs"
)

// TestEvaluate: evaluate gives the measures that train gave, and says which nodes are judged.
func TestEvaluate(t *testing.T) {
	dir := t.TempDir()
	base := []string{"--dataset", tinyGraph, "--engine", "go", "--quiet"}
	var summary runs.Summary
	succeeds(t, append([]string{"train", "--model", "gcn", "--hidden", "8", "--epochs", "4", "--splits", "1", "--out",
		dir, "--metric", "balanced-accuracy", "--json"}, base...)...).document(t, &summary)
	file := filepath.Join(dir, "split1.safetensors")
	var got evaluated
	succeeds(t, append([]string{"evaluate", "--weights", file, "--json"}, base...)...).document(t, &got)
	r := summary.Splits[0]
	if summary.Metric != "balanced_accuracy" || len(got.Parts) != 1 || got.Parts[0].Part != "test" ||
		got.Parts[0].Split != 1 || math.Abs(float64(got.Parts[0].Measures["balanced_accuracy"]-r.Test)) > 1e-9 ||
		got.About.Thresholds["balanced_accuracy"] != r.Measures.Thresholds["balanced_accuracy"] {
		t.Errorf("%+v, was %+v", got, r)
	}
	table := succeeds(t, append([]string{"evaluate", "--weights", file, "--part", "all"}, base...)...).stdout
	for _, want := range []string{"measure", "macro F1", "threshold 0.", "taken for 1", "labelled", "trained on",
		"expected calibration error"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in %s", want, table)
		}
	}
	vectors := filepath.Join(dir, "vectors.npz")
	written := succeeds(t, append([]string{"predict", "--weights", file, "--embeddings", vectors}, base...)...).stdout
	if values, shape, err := opened(t, vectors).Float32s("representation", 2); err != nil || shape[0] != 144 ||
		len(values) != 144*shape[1] || !strings.Contains(written, "written to "+vectors) {
		t.Errorf("%v, %v: %s", shape, err, written)
	}
	for want, args := range map[string][]string{
		"no weights given":        {"evaluate", "--dataset", tinyGraph},
		"no dataset given":        {"evaluate", "--weights", file},
		`--part is "some"`:        {"evaluate", "--dataset", tinyGraph, "--weights", file, "--part", "some"},
		"--split is -3: give the": {"evaluate", "--dataset", tinyGraph, "--weights", file, "--split", "-3"},
		"--out and --embeddings are both": {"predict", "--dataset", tinyGraph, "--weights", file, "--out", vectors,
			"--embeddings", vectors},
		`--embeddings is "e.txt"`: {"predict", "--dataset", tinyGraph, "--weights", file, "--embeddings",
			"e.txt"},
		`metric is "f1": choose auto or `: {"train", "--dataset", tinyGraph, "--metric", "f1"},
	} {
		if o := revgnn(t, args...); o.code != 2 || !strings.Contains(o.stderr, want) {
			t.Errorf("%d: %s, want %q", o.code, o.stderr, want)
		}
	}
}
