package runs

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/train"
)

func TestParseSplits(t *testing.T) {
	for text, want := range map[string]string{"0-9": "[0 1 2 3 4 5 6 7 8 9]", "3": "[3]", "0,3,5": "[0 3 5]",
		"7, 0-2": "[7 0 1 2]", "5-5": "[5]"} {
		if got, err := ParseSplits(text); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", ",", "1,", "-1", "1-", "2-1", "a", "1.5", "0-10000",
		"99999999999999999999", "1,1", "0-3,2"} {
		if got, err := ParseSplits(text); err == nil {
			t.Errorf("%q was accepted: %v", text, got)
		}
	}
}

func FuzzParseSplits(f *testing.F) {
	f.Add("0-9")
	f.Add("0,3,5-7")
	f.Fuzz(func(t *testing.T, text string) {
		splits, err := ParseSplits(text)
		if err == nil && len(splits) == 0 || len(splits) > maxSplit+1 {
			t.Errorf("%q gives %d splits", text, len(splits))
		}
	})
}

func graph(t *testing.T) *graphs.Graph {
	t.Helper()
	g, err := datasets.Load(t.Context(), "minesweeper-generated:rows=8,cols=8", datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func small() train.Config {
	c := train.Default("gcn+rep")
	c.Forward, c.Reverse, c.Hidden, c.Epochs = 1, 1, 4, 2
	return c
}

func TestDivergedSplitsAreKeptButNotAveraged(t *testing.T) {
	e, g, dir := enginetest.Open(t, engine.Go), graph(t), t.TempDir()
	c := small()
	c.LearningRate, c.Epochs = 1e30, 30
	s, err := Sweep(t.Context(), e, g, c, SweepOptions{Splits: []int{0}, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if s.OK() || s.Mean == s.Mean || !strings.Contains(s.Complaint(), "1 of 1 splits diverged") {
		t.Errorf("got %+v, %q", s, s.Complaint())
	}
	resumed := false
	again, err := Sweep(t.Context(), e, g, c,
		SweepOptions{Splits: []int{0}, Dir: dir, Resume: true, Split: func(_ *SplitRecord, r bool) { resumed = r }})
	if err != nil || !resumed || again.OK() {
		t.Errorf("resumed %v, %+v, %v", resumed, again, err)
	}
	_, err = Sweep(t.Context(), e, g, train.Default("grand"), SweepOptions{Splits: []int{0}, Dir: dir, Resume: true})
	if err == nil || !strings.Contains(err.Error(), "not grand") {
		t.Errorf("resumed with another model: %v", err)
	}
}

func TestCancelledBetweenSplits(t *testing.T) {
	e, g, dir := enginetest.Open(t, engine.Go), graph(t), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	s, err := Sweep(ctx, e, g, small(), SweepOptions{Splits: []int{0, 1, 2}, Dir: dir, Split: func(*SplitRecord, bool) {
		cancel()
	}})
	if err != nil || len(s.Splits) != 2 || s.Splits[1].Status != train.Interrupted || s.Mean != s.Splits[0].Test {
		t.Fatalf("got %+v, %v", s, err)
	}
	if !strings.Contains(s.Complaint(), "interrupted in split 1") {
		t.Errorf("got %q", s.Complaint())
	}
	holds(t, dir, "split0.checkpoint", "split0.json", "split0.safetensors")
	// The training on split 1 was interrupted above, so that split 1 has no result. Now the weights of split 0 are
	// removed. A resumed sweep must therefore train on both splits, on
	// the first from its checkpoint.
	if err := os.Remove(filepath.Join(dir, splitName(0, weightsEnd))); err != nil {
		t.Fatal(err)
	}
	var fresh []bool
	s, err = Sweep(t.Context(), e, g, small(), SweepOptions{Splits: []int{0, 1}, Dir: dir, Resume: true,
		Split: func(_ *SplitRecord, r bool) { fresh = append(fresh, !r) }})
	if err != nil || !s.OK() || fmt.Sprint(fresh) != "[true true]" {
		t.Errorf("got %+v, %v, %v", s, fresh, err)
	}
}

func TestRefusals(t *testing.T) {
	e, g := enginetest.Open(t, engine.Go), graph(t)
	c := small()
	c.Epochs = 0
	if _, err := Sweep(t.Context(), e, g, c, SweepOptions{Splits: []int{0}}); err == nil {
		t.Error("no epochs were accepted")
	}
	if err := CheckSplits([]int{0, 10}, g, small()); err == nil || !strings.Contains(err.Error(), "no split 10") {
		t.Errorf("got %v", err)
	}
	g.Splits = slices.Clone(g.Splits)
	g.Splits[1].Val = make([]bool, g.NumNodes)
	if err := CheckSplits([]int{0, 1}, g, small()); err == nil || !strings.Contains(err.Error(), "split 1 of ") ||
		!strings.Contains(err.Error(), "no validation nodes") {
		t.Errorf("got %v", err)
	}
	for i := range g.Splits[2].Test { // all test nodes of split 2 are free cells
		g.Splits[2].Test[i] = g.Splits[2].Test[i] && g.Labels[i] == 0
	}
	if err := CheckSplits([]int{2}, g, small()); err == nil ||
		!strings.Contains(err.Error(), "its test nodes are all of one class") {
		t.Errorf("got %v", err)
	}
	// Splits are not checked here. The training on the first one is not lost.
	s, err := Sweep(t.Context(), e, g, small(), SweepOptions{Splits: []int{0, 1}})
	if err == nil || s == nil || len(s.Splits) != 1 || math.IsNaN(float64(s.Mean)) {
		t.Errorf("got %+v, %v", s, err)
	}
	g.Splits = nil
	if err := CheckSplits(nil, g, small()); err == nil {
		t.Error("a graph without splits was accepted")
	}
}

// TestSplitWithoutTestNodes: such a split has no test metric, and does not count for the mean of the others.
func TestSplitWithoutTestNodes(t *testing.T) {
	s := &Summary{Splits: []*train.Result{{Status: train.OK, Test: 0.5},
		{Status: train.OK, Test: train.Number(math.NaN())}, {Status: train.Diverged}, {Status: train.OK, Test: 0.75}}}
	if text := s.Complaint(); !strings.Contains(text, "1 of 4 splits diverged") {
		t.Errorf("complains %q", text)
	}
	s.Splits = append(s.Splits, &train.Result{Split: 4, Status: train.Interrupted})
	if text := s.Complaint(); !strings.Contains(text, "interrupted in split 4") {
		t.Errorf("complains %q", text)
	}
	if tests := s.Tests(); metrics.Mean(tests) != 0.625 || !slices.Equal(tests, []float64{0.5, 0.75}) {
		t.Errorf("got %+v", s)
	}
}
