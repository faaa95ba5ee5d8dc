package paper

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// tiny returns a profile whose runs take only seconds on the pure-Go engine.
func tiny(t *testing.T) Profile {
	t.Helper()
	p := Quick()
	p.Name, p.Datasets, p.Chosen = "tiny", []string{"minesweeper", "tolokers"}, nil
	p.Rules = rules(t,
		`[{"settings": {"hidden": 4, "epochs": 2, "max_iterations": 4, "lr": [0.01, 1e30]},
		"depths": [{"forward": 2, "reverse": 2}]}]`)
	for _, c := range []*train.Config{&p.Boards.Reverse.Config, &p.Boards.Plain.Config} {
		c.Forward, c.Hidden, c.Epochs = 2, 4, 2
	}
	p.Boards.Reverse.Config.Reverse = 2
	return p
}

// runner returns an [runs.Runner], which makes runs and records them in an SQLite file. The only dataset that it
// can load is minesweeper. In place of the public dataset, it loads a generated Minesweeper graph of 92 x 100 cells.
func runner(t *testing.T, path string) *runs.Runner {
	t.Helper()
	store, err := runs.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	e := enginetest.Open(t, engine.Go)
	return &runs.Runner{Scope: runs.Scope{Profile: tiny(t).Profile, Models: []string{"gcn", "gcn+rep", "sage+rep"}},
		Store:  store,
		Engine: func() (*engine.Engine, error) { return e, nil },
		Load: func(ctx context.Context, name string) (*graphs.Graph, error) {
			if name != "minesweeper" {
				return nil, errors.New("no such file")
			}
			return datasets.Load(ctx, "minesweeper-generated:rows=92,cols=100", datasets.Options{})
		}}
}

// TestRunAndShow makes the runs that a table and a figure need. Then it makes the table and the figure from the records
// of these runs.
func TestRunAndShow(t *testing.T) {
	t.Parallel()
	items, err := Choose([]string{"table2", "fig4"})
	if err != nil {
		t.Fatal(err)
	}
	p, r := tiny(t), runner(t, filepath.Join(t.TempDir(), "runs.sqlite"))
	work := Work(p, items)
	first, err := r.Plan(work)
	if err != nil || first.Missing == 0 {
		t.Fatalf("%+v, %v", first, err)
	}
	if err := r.Run(t.Context(), work); err != nil {
		t.Fatal(err)
	}
	if last, err := r.Plan(work); err != nil || last.Missing != 0 {
		t.Errorf("%d runs are missing in the end, %v", last.Missing, err)
	}
	documents, _, err := Documents(r, p, items)
	if err != nil {
		t.Fatal(err)
	}
	text, err := documents[0].Tables[0].Markdown()
	if err != nil || !strings.Contains(text, "dataset not here (no such file)") ||
		!strings.Contains(text, "3 splits") {
		t.Errorf("%v in\n%s", err, text)
	}
	if figures := documents[1].Figures; len(figures) != 2 {
		t.Errorf("figure 4 has %d examples; %q", len(figures), documents[1].Notes)
	}
}

// TestCellsStopInTime: a notebook cell may spend only a limited number of seconds on missing runs. If the time of these
// runs cannot be estimated, the cell begins them, and stops when the seconds have passed.
func TestCellsStopInTime(t *testing.T) {
	items, err := Choose([]string{"fig4"})
	if err != nil {
		t.Fatal(err)
	}
	p, r := tiny(t), runner(t, filepath.Join(t.TempDir(), "runs.sqlite"))
	for _, seconds := range []string{"0", "0.001"} {
		t.Setenv(SecondsVariable, seconds)
		if err := complete(r, p, items); err != nil {
			t.Fatal(err)
		}
		if plan, err := r.Plan(Work(p, items)); err != nil || plan.Missing != 1 || plan.Unknown != 1 {
			t.Errorf("after %s s, %d of %d runs are missing: %v", seconds, plan.Missing, len(plan.Steps), err)
		}
	}
	t.Setenv(SecondsVariable, "300")
	if err := complete(r, p, items); err != nil {
		t.Fatal(err)
	}
	if plan, err := r.Plan(Work(p, items)); err != nil || plan.Missing != 0 {
		t.Errorf("in the end, %d runs are missing: %v", plan.Missing, err)
	}
}
