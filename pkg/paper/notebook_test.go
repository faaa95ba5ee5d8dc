package paper

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/runs"
)

// TestMain runs a single task instead of the tests if the environment variable [taskVariable] has a task. The function
// [alone] sets this variable and starts its own program again. When a test calls alone, this program is the test
// program.
func TestMain(m *testing.M) {
	if text := os.Getenv(taskVariable); text != "" {
		answer(text)
	}
	os.Exit(m.Run())
}

func TestTaskAlone(t *testing.T) {
	c := Quick().Complexity
	task := runs.Whole(runs.Bench, c.Idle.name(), c.Model.Config)
	record, err := alone(context.Background(), task)
	if err != nil {
		t.Fatal(err)
	}
	if record.Key != task.Key() || record.Status != runs.OK {
		t.Errorf("the record is %+v", record)
	}
	if got := result(&record); !strings.HasSuffix(got, " s per epoch") {
		t.Errorf("its result is shown as %q", got)
	}
	task.Dataset = "nonesuch"
	if _, err := alone(context.Background(), task); err == nil || !strings.Contains(err.Error(), "nonesuch") {
		t.Errorf("a task that can't be run: %v", err)
	}
}

// TestNotebook makes a document for which there are no records. The test sets the time limit for missing runs to 0
// seconds, so that Notebook makes no runs. The test also checks the errors for an unknown table, and for a time limit
// that is not a number.
func TestNotebook(t *testing.T) {
	t.Setenv("REVGNN_RUNS", filepath.Join(t.TempDir(), "runs.sqlite"))
	t.Setenv(SecondsVariable, "0")
	none := Quick()
	none.Name, none.Inversions.Hidden = "test", 7 // no record has this width
	d, err := Notebook("table4", none)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Records) != 0 || len(d.Tables) != 1 {
		t.Errorf("%d records and %d tables", len(d.Records), len(d.Tables))
	}
	if text := d.Behind().Text(); !strings.Contains(text, "no runs yet") {
		t.Errorf("behind it: %q", text)
	}
	if _, err := Notebook("table9", none); err == nil || !strings.Contains(err.Error(), "table9") {
		t.Errorf("an unknown table: %v", err)
	}
	t.Setenv(SecondsVariable, "soon")
	if _, err := Notebook("table4", none); err == nil || !strings.Contains(err.Error(), SecondsVariable) {
		t.Errorf("an impossible limit: %v", err)
	}
}

func TestBehind(t *testing.T) {
	config := []byte(`{"model":"gcn+rep","forward":4,"reverse":8,"hidden":64,"lr":0.01,"epochs":100,"lipschitz":0.9,
		"weight_decay":0.005,"seed":1000}`)
	train := &runs.Record{ID: "2", Kind: runs.Train, Dataset: "cora", Split: 1, Config: config,
		Status:  runs.OK,
		Outcome: []byte(`{"metric":"accuracy","val":0.875,"test":0.75,"residual":1e-6}`)}
	d := &Document{Name: "table3", Records: []*runs.Record{
		train,
		{ID: "1", Kind: runs.Invert, Dataset: "cora", Split: runs.NoSplit, Config: config, Status: runs.OK,
			Outcome: []byte(`{"mean_abs_error":2e-5,"residual":[1e-3,1e-4]}`)},
		{ID: "3", Kind: runs.Train, Dataset: "cora", Config: config, Status: runs.Diverged},
	}}
	text := d.Behind().Text()
	for _, want := range []string{"gcn+rep 4/8 on cora, split 1", "accuracy: validation 0.8750, test 0.7500",
		"100 epochs at most, c 0.9, weight-decay 0.005, seed 1000 |",
		"mean absolute error 2.00e-05", "diverged"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for range 10 {
		d.Records = append(d.Records, train)
	}
	if html, err := d.Behind().HTML(); err != nil || !strings.Contains(html, "<summary") {
		t.Errorf("many runs are not folded: %v", err)
	}
}
