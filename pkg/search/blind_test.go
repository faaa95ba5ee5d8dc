package search

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// tiny returns a search on g, a small Minesweeper board. The search makes nine trials of at most nine epochs, which
// takes about a second. It keeps its records in the file path.
func tiny(t *testing.T, g *graphs.Graph, path string) *Search {
	t.Helper()
	store, err := runs.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	space, err := ParseSpace([]byte(`{"name": "tiny", "about": "", "rules": [{"settings": {
		"lr": {"log": [0.001, 0.3]}, "hidden": {"choice": [4, 8]}, "dropout": {"linear": [0, 0.6], "step": 0.2},
		"forward": {"integer": [1, 3]}, "reverse": {"integer": [1, 2]}}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	blinds, err := Blindfolds(g, []int{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	base := train.Default("gcn+rep")
	base.Epochs, base.Patience, base.MaxIterations, base.Seed = 9, 5, 4, 2
	return &Search{Dataset: "board", Graphs: blinds, Space: space, Base: base, Schedule: NewSchedule(9, 1, 3, 9),
		Store: store, Engine: enginetest.Open(t, engine.Go)}
}

func board(t *testing.T) *graphs.Graph {
	t.Helper()
	g, err := datasets.Load(t.Context(), "minesweeper-generated:rows=8,cols=8", datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func run(t *testing.T, s *Search) *Result {
	t.Helper()
	r, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// told returns the content of a search's records, without IDs, times and memory, which differ from run to run.
func told(t *testing.T, s *Search) string {
	t.Helper()
	records, err := s.Store.Find(runs.Query{Kind: runs.Search})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range records {
		var o Outcome
		if err := json.Unmarshal(r.Outcome, &o); err != nil {
			t.Fatal(err)
		}
		o.Began, o.End = time.Time{}, time.Time{}
		o.Total, o.EpochSeconds, o.CompileSeconds, o.PeakRSS, o.PredictedBytes = 0, 0, 0, 0, 0
		text, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s %s %d %d %s %s %s", r.Key, r.Checksum, r.Split, r.Seed, r.Status, r.Config, text))
	}
	return strings.Join(out, "\n")
}

// TestBlind makes the same search twice, the second time with other labels on test nodes. Both searches must have the
// same records (except for IDs, times and memory), and must choose the same trial. No record may have a test result.
func TestBlind(t *testing.T) {
	g := board(t)
	other := *g
	other.Labels = slices.Clone(g.Labels)
	changed := 0
	for i := range other.Labels {
		if g.Splits[0].Test[i] && g.Splits[1].Test[i] {
			other.Labels[i] = 1 - other.Labels[i]
			changed++
		}
	}
	if changed == 0 {
		t.Fatal("no node is for testing in both splits")
	}
	dir := t.TempDir()
	a, b := tiny(t, g, filepath.Join(dir, "a.sqlite")), tiny(t, &other, filepath.Join(dir, "b.sqlite"))
	x, y := run(t, a), run(t, b)
	if one, two := told(t, a), told(t, b); one != two || one == "" {
		t.Errorf("with other labels on test nodes, records differ:\n%s\n%s", one, two)
	}
	if x.Search != y.Search || x.Best.Trial != y.Best.Trial || !x.Complete || !x.Found() {
		t.Errorf("%+v and %+v", x, y)
	}
	records, err := a.Store.Find(runs.Query{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if r.Kind != runs.Search || bytes.Contains(bytes.ToLower(r.Outcome), []byte("test")) {
			t.Errorf("run %s of kind %s has a test: %s", r.ID, r.Kind, r.Outcome)
		}
	}
}

// TestBlindfold checks the graph that [Blindfolds] makes for split 1. The training and validation nodes of split 1 keep
// their labels, all other nodes have class 0, and all other splits are empty.
func TestBlindfold(t *testing.T) {
	g := board(t)
	blind, err := Blindfolds(g, []int{1})
	if err != nil {
		t.Fatal(err)
	}
	b := blind[0]
	if err := b.graph.Validate(); err != nil {
		t.Error(err)
	}
	s := b.graph.Splits[1]
	for i, label := range b.graph.Labels {
		switch {
		case s.Test[i] || b.graph.Splits[0].Train[i] || b.graph.Splits[0].Val[i] || b.graph.Splits[0].Test[i]:
			t.Errorf("node %d is in a mask", i)
		case s.Train[i] != g.Splits[1].Train[i] || s.Val[i] != g.Splits[1].Val[i]:
			t.Errorf("node %d has another part in the split", i)
		case (s.Train[i] || s.Val[i]) && label != g.Labels[i] || !s.Train[i] && !s.Val[i] && label != 0:
			t.Errorf("node %d has label %d, in the graph %d", i, label, g.Labels[i])
		}
	}
	if _, err := Blindfolds(g, []int{99}); err == nil {
		t.Error("split 99 was accepted")
	}
	none := *g
	none.Splits = []graphs.Split{{Train: g.Splits[0].Train, Val: make([]bool, g.NumNodes), Test: g.Splits[0].Test}}
	if _, err := Blindfolds(&none, []int{0}); err == nil || !strings.Contains(err.Error(), "no validation nodes") {
		t.Errorf("without validation nodes: %v", err)
	}
}
