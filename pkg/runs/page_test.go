package runs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/report/echarts"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/train/modeltest"
)

// recorded trains a model on split 0, and returns the record that the command 'revgnn train --runs' would make.
func recorded(t *testing.T, g *graphs.Graph, model string) *Record {
	t.Helper()
	return recordedFor(t, g, model, "auto")
}

func recordedFor(t *testing.T, g *graphs.Graph, model, metric string) *Record {
	t.Helper()
	c := modeltest.Small(model)
	c.Epochs, c.Metric = 6, metric
	var record Record
	_, err := Sweep(t.Context(), enginetest.Open(t, engine.Go), g, c, SweepOptions{Splits: []int{0},
		Record: func(r Record, _ bool) { record = r }})
	if err != nil {
		t.Fatal(err)
	}
	record.ID = "0123456789abcd"
	return &record
}

// pageOf returns the page of a record without the HTML head. The head contains the JavaScript library ECharts, in which
// the tests do not look for texts.
func pageOf(t *testing.T, r *Record) string {
	t.Helper()
	page, err := Page(r)
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(page, "<body")
	return body
}

// shows checks that a page contains every text of the first list, and no text of the second list.
func shows(t *testing.T, page string, want, not []string) {
	t.Helper()
	for _, text := range want {
		if !strings.Contains(page, text) {
			t.Errorf("the page does not have %q", text)
		}
	}
	for _, text := range not {
		if strings.Contains(page, text) {
			t.Errorf("the page has %q", text)
		}
	}
}

func hasLibrary(t *testing.T) {
	t.Helper()
	if _, err := echarts.Source(); err != nil {
		t.Skip(err)
	}
}

func TestPageOfTwoClasses(t *testing.T) {
	hasLibrary(t)
	r := recorded(t, modeltest.Board(t, 8), "gcn+rep")
	whole := []string{"Loss and ROC-AUC over epochs", "ROC curve of the test nodes: an area of",
		"Measures of the best epoch", "balanced accuracy", "Reliability of the test nodes: an expected",
		"Iterations and residuals over epochs", "Similarity of the nodes", "Settings of gcn+rep",
		"revgnn train --dataset minesweeper-generated:rows=8,cols=8", "version of go", "runs rerun 0123456789abcd"}
	shows(t, pageOf(t, r), whole, []string{"Not in this record", "Not shown"})

	// A record of an earlier version has no details, and the record of a failed training has no outcome. Both must give
	// a page, too.
	var outcome map[string]any
	if err := json.Unmarshal(r.Outcome, &outcome); err != nil {
		t.Fatal(err)
	}
	delete(outcome, "details")
	older := *r
	older.Outcome, _ = json.Marshal(outcome)
	shows(t, pageOf(t, &older), append(whole[7:], "Not in this record: the curves", "Not in this record: the confusion",
		"Not in this record: iterations", "Not in this record: the smoothness"), []string{"data:image"})
	failed := *r
	failed.Outcome, failed.Status, failed.Message = nil, Failed, "the <engine> stopped"
	shows(t, pageOf(t, &failed), []string{"it ended as failed. The &lt;engine&gt; stopped.", "Settings of gcn+rep"},
		[]string{"<engine>"})
	diverged := bytes.ReplaceAll(r.Outcome, []byte(`"best_epoch":`), []byte(`"best_epoch":0,"x":`))
	failed.Outcome, failed.Status = diverged, Diverged
	pageOf(t, &failed)
	failed.Kind = Bench
	if _, err := Page(&failed); err == nil || !strings.Contains(err.Error(), "pages are made of trainings") {
		t.Errorf("got %v", err)
	}
}

// TestPageOfOtherMetrics: a page names the metric of the training, in its unit.
func TestPageOfOtherMetrics(t *testing.T) {
	hasLibrary(t)
	g := modeltest.Board(t, 8)
	page := pageOf(t, recordedFor(t, g, "gcn", "log-loss"))
	shows(t, page, []string{"Loss and log loss over epochs", "best validation log loss", "log loss [nats]",
		"ROC curve of the test nodes: an area of", "--metric=log-loss"},
		[]string{"log loss [%]", "ROC curve of the test nodes: an area of 0.00"})
	page = pageOf(t, recordedFor(t, g, "gcn", "balanced-accuracy"))
	shows(t, page, []string{"balanced accuracy [%]", "Confusion matrix of the test nodes", "above the threshold"},
		[]string{"ROC curve"})
}

func TestPageOfThreeClasses(t *testing.T) {
	hasLibrary(t)
	board := modeltest.Board(t, 8)
	labels := make([]int32, board.NumNodes)
	for i := range labels {
		labels[i] = int32(i % 3)
	}
	g, err := graphs.New("three", board.NumNodes, board.Edges, board.Features, board.NumFeatures, labels, 3, board.Splits)
	if err != nil {
		t.Fatal(err)
	}
	g.ClassNames = []string{"ant", "bee", "<cat>"}
	r := recorded(t, g, "mlp")
	shows(t, pageOf(t, r), []string{"Confusion matrix of the test nodes", "ant", "&lt;cat&gt;", "Model mlp has none.",
		"Not shown: model mlp has no layers to follow"}, []string{"Not in this record", "<cat>"})
	var o struct{ Details train.Details }
	if err := json.Unmarshal(r.Outcome, &o); err != nil {
		t.Fatal(err)
	}
	all, right := 0, 0
	for k, row := range o.Details.Confusion {
		for l, n := range row {
			all += n
			if k == l {
				right += n
			}
		}
	}
	var result train.Result
	if err := json.Unmarshal(r.Outcome, &result); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprintf("%.9f", float64(right)/float64(all)), fmt.Sprintf("%.9f", result.Test); got != want {
		t.Errorf("the confusion matrix has an accuracy of %s, the result %s", got, want)
	}
}

func TestQuoted(t *testing.T) {
	for word, want := range map[string]string{"a/b.npz": "a/b.npz", "a b": "'a b'", "it's": `'it'\''s'`, "": "''",
		"$(x)": "'$(x)'"} {
		if got := quoted(word); got != want {
			t.Errorf("%q is %s, want %s", word, got, want)
		}
	}
}

// TestSweepPage: the page shows only trainings with the same model and settings; their seeds may differ. If there are
// several trainings with the same split and seed, the page shows only the latest one that ended well. It has a command
// for each seed.
func TestSweepPage(t *testing.T) {
	hasLibrary(t)
	g := modeltest.Board(t, 8)
	first := *recorded(t, g, "gcn+rep")
	with := func(id string, split int, seed uint64, test float64, later time.Duration) Record {
		var outcome map[string]any
		if err := json.Unmarshal(first.Outcome, &outcome); err != nil {
			t.Fatal(err)
		}
		outcome["test"] = test
		text, err := json.Marshal(outcome)
		if err != nil {
			t.Fatal(err)
		}
		r := first
		r.ID, r.Split, r.Seed, r.Outcome, r.Started = id, split, seed, text, first.Started.Add(later)
		return r
	}
	other := *recorded(t, g, "gcn")
	failed := with("stopped", 0, 0, 0.5, 2*time.Hour)
	failed.Status, failed.Outcome = Failed, nil
	alone := failed // nothing ended well on split 2, which has no numbers
	alone.ID, alone.Split, alone.Seed = "alone", 2, 2
	all := []Record{with("earlier", 0, 0, 0.1, 0), with("newer", 0, 0, 0.5, time.Hour),
		with("second", 1, 1, 0.7, 0), with("seeded", 1, 1001, 0.9, 0), other, failed, alone}
	list, err := Siblings(&all[2], all)
	if err != nil || len(list) != 4 || list[0].ID != "newer" || list[2].ID != "seeded" {
		t.Fatalf("%d siblings, %v", len(list), err)
	}
	page, err := SweepPage(list)
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(page, "<body")
	shows(t, body, []string{"4 trainings of 3 splits", "65.00 ± 21.21 % over 2 splits", "Of several seeds",
		"leave out 1 training that did not end well", "Results by split",
		"Loss and validation ROC-AUC over epochs", "--splits 0,1,2 ",
		"--splits 1 ", "--seed=1000 "}, []string{"earlier", "stopped", ">0.00 %<", "NaN %", "Not in this record"})
	if _, err := SweepPage(nil); err == nil {
		t.Error("a page of nothing")
	}
}
