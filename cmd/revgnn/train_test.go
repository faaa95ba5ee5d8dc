package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

func trainedSplits(t *testing.T, model string, code int, args ...string) (s runs.Summary) {
	t.Helper()
	o := revgnn(t, with(with([]string{"train", "--dataset", tinyGraph, "--json"}, quickly(model)...), args...)...)
	if o.code != code {
		t.Fatalf("exit status %d: %s%s", o.code, o.stdout, o.stderr)
	}
	o.document(t, &s)
	return s
}

func TestTrain(t *testing.T) {
	s := trainedSplits(t, "gcn+rep", 0, "--epochs", "5", "--splits", "0-1")
	if !strings.HasPrefix(s.Dataset, "minesweeper-generated") || s.Model != "gcn+rep" || s.Engine != "go" ||
		s.Metric != "roc_auc" || len(s.Splits) != 2 {
		t.Errorf("got %+v", s)
	}
	c := s.Config
	if c.Hidden != 8 || c.Forward != 2 || c.Reverse != 2 || c.HeadLayers != 1 || c.Epochs != 5 ||
		c.LearningRate != train.Default("gcn+rep").LearningRate {
		t.Errorf("config %+v", c)
	}
	a, b := float64(s.Splits[0].Test), float64(s.Splits[1].Test)
	for what, d := range map[string]float64{
		"mean":           float64(s.Mean) - (a+b)/2,
		"std":            float64(s.Std) - math.Abs(a-b)/math.Sqrt2,
		"std_population": float64(s.StdPopulation) - math.Abs(a-b)/2,
	} {
		if !(math.Abs(d) < 1e-12) {
			t.Errorf("%s is %v off", what, d)
		}
	}
	for k, r := range s.Splits {
		if r.Split != k || r.Seed != uint64(k) || r.Epochs != 5 || r.BestEpoch < 1 || r.BestEpoch > 5 ||
			r.Status != train.OK || r.EpochSeconds <= 0 || r.PeakRSS <= 0 || r.Iterations.Solve <= 0 {
			t.Errorf("split %d: %+v", k, r)
		}
	}
}

// TestTrainKeys checks that the JSON document of the command train has the names that other programs rely on.
func TestTrainKeys(t *testing.T) {
	var d map[string]any
	succeeds(t, with(quick, "train", "--dataset", tinyGraph, "--epochs", "2", "--splits", "3", "--json")...).
		document(t, &d)
	splits, _ := d["splits"].([]any)
	if len(splits) != 1 {
		t.Fatalf("got %v", d)
	}
	split := splits[0].(map[string]any)
	iterations, _ := split["iterations"].(map[string]any)
	config, _ := d["config"].(map[string]any)
	for _, c := range []struct {
		in   map[string]any
		keys string
	}{
		{d, "dataset model config engine metric splits mean std std_population"},
		{split, "split seed epochs best_epoch val test seconds epoch_seconds compile_seconds peak_rss_bytes " +
			"iterations residual status"},
		{iterations, "solve adjoint"},
		{config, "forward reverse hidden dropout lr weight_decay lipschitz normalise tolerance max_iterations " +
			"adjoint norm head_layers epochs patience seed"},
	} {
		for key := range strings.FieldsSeq(c.keys) {
			if c.in[key] == nil {
				t.Errorf("no %q in %v", key, c.in)
			}
		}
	}
}

func TestTrainTable(t *testing.T) {
	o := succeeds(t, with(quickly("gcn"), "train", "--dataset", tinyGraph, "--epochs", "2", "--splits", "0,2")...)
	if !strings.Contains(o.stdout, "roc_auc") || !strings.Contains(o.stdout, "±") ||
		!strings.Contains(o.stderr, "split 2: validation") {
		t.Errorf("got %s%s", o.stdout, o.stderr)
	}
	o = succeeds(t, with(quick, "train", "--dataset", tinyGraph, "--epochs", "2", "--splits", "0", "--quiet")...)
	if o.stderr != "" {
		t.Errorf("--quiet writes %s", o.stderr)
	}
}

func TestResume(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	first := trainedSplits(t, "gcn+rep", 0, "--epochs", "3", "--splits", "0", "--out", dir)
	empty(t, dir, "split0.checkpoint", "split0.json", "split0.safetensors", "result.json")
	stamp := read(t, filepath.Join(dir, "split0.json"))

	o := revgnn(t, with(quick, "train", "--dataset", tinyGraph, "--json", "--epochs", "3", "--splits", "0-1",
		"--out", dir, "--resume")...)
	var second runs.Summary
	o.document(t, &second)
	if o.code != 0 || !strings.Contains(o.stderr, "split 0") || !strings.Contains(o.stderr, "kept from before") {
		t.Errorf("exit status %d: %s", o.code, o.stderr)
	}
	if len(second.Splits) != 2 || second.Splits[0].Seconds != first.Splits[0].Seconds ||
		second.Splits[0].Test != first.Splits[0].Test {
		t.Errorf("split 0 was %+v, and is %+v", first.Splits[0], second.Splits[0])
	}
	if !bytes.Equal(stamp, read(t, filepath.Join(dir, "split0.json"))) {
		t.Error("split 0 was written again")
	}
	var kept runs.Summary
	if err := json.Unmarshal(read(t, filepath.Join(dir, "result.json")), &kept); err != nil ||
		fmt.Sprint(kept.Mean, len(kept.Splits)) != fmt.Sprint(second.Mean, 2) {
		t.Errorf("result.json holds %+v, %v", kept, err)
	}

	again := with(quick, "train", "--dataset", tinyGraph, "--splits", "0", "--out", dir, "--resume")
	fails(t, 1, "has epochs 3, not 2; give the same settings", with(again, "--epochs", "2")...)
	fails(t, 1, "has seed 0, not 7", with(again, "--epochs", "3", "--seed", "7")...)
	fails(t, 1, "is of the dataset", with(again, "--epochs", "3", "--dataset", tinyGraph+",seed=9")...)
	if err := os.WriteFile(filepath.Join(dir, "split0.json"), stamp[:len(stamp)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	fails(t, 1, "is damaged", with(again, "--epochs", "3")...)
	if err := os.WriteFile(filepath.Join(dir, "split0.json"), stamp, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "split0.safetensors"), []byte("short"), 0o644); err != nil {
		t.Fatal(err)
	}
	fails(t, 1, "split0.safetensors is damaged", with(again, "--epochs", "3")...)
	empty(t, dir, "split0.checkpoint", "split0.json", "split0.safetensors", "split1.checkpoint", "split1.json",
		"split1.safetensors", "result.json")
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDivergedIsNoMean(t *testing.T) {
	s := trainedSplits(t, "gcn+rep", 1, "--epochs", "30", "--splits", "0", "--lr", "1e30")
	if len(s.Splits) != 1 || s.Splits[0].Status != train.Diverged || s.Splits[0].Message == "" || s.Mean == s.Mean {
		t.Errorf("got %+v", s)
	}
}

func TestInvertAndBench(t *testing.T) {
	var i train.Inversion
	succeeds(t, "invert", "--dataset", tinyGraph, "--engine", "go", "--depth", "4", "--hidden", "8",
		"--lipschitz", "0.5", "--json").document(t, &i)
	if i.Depth != 4 || len(i.Residual) != 8 || !(i.MeanAbsError < 1e-2) || i.Residual[7] > i.Residual[0] {
		t.Errorf("got %+v", i)
	}
	var b train.Benchmark
	succeeds(t, with(quick, "bench", "--dataset", tinyGraph, "--epochs", "3", "--json")...).document(t, &b)
	if b.Epochs != 3 || b.EpochSeconds <= 0 || b.PeakRSS <= 0 {
		t.Errorf("got %+v", b)
	}
}

// TestSummaryTable checks the last line of the table that the command train writes: the mean of several splits, the
// test metric of a single one, and nothing if no training ended well.
func TestSummaryTable(t *testing.T) {
	ok, bad := &train.Result{Status: train.OK}, &train.Result{Status: train.Interrupted}
	for _, c := range []struct {
		splits []*train.Result
		end    string
	}{
		{[]*train.Result{ok, ok, bad}, "0.5000 ± 0.1000 (2 splits; sample standard deviation; population 0.0700)\n"},
		{[]*train.Result{ok, bad}, "0.5000 (one split)\n"},
		{[]*train.Result{bad}, "interrupted\n"},
	} {
		var b strings.Builder
		summaryTable(&b, &runs.Summary{Metric: "roc_auc", Splits: c.splits, Mean: 0.5, Std: 0.1, StdPopulation: 0.07})
		if !strings.HasSuffix(b.String(), c.end) {
			t.Errorf("got %q, want the end %q", b.String(), c.end)
		}
	}
}

// TestNamesOfModels checks that a model's alias trains it, and that a name which people may take for another network's
// says so.
func TestNamesOfModels(t *testing.T) {
	args := []string{"train", "--dataset", tinyGraph, "--epochs", "2", "--splits", "0", "--hidden", "8", "--json", "--model"}
	var s runs.Summary
	o := succeeds(t, with(args, "pyg-gcn")...)
	o.document(t, &s)
	if s.Model != "vanilla-gcn" || strings.Contains(o.stderr, "PyTorch Geometric") {
		t.Errorf("pyg-gcn is %q, and says %q", s.Model, o.stderr)
	}
	if o := succeeds(t, with(args, "sage")...); !strings.Contains(o.stderr, "network of Platonov et al.") {
		t.Errorf("sage says %q", o.stderr)
	}
}
