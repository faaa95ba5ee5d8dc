package paper

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/machine"
	"github.com/revgnn/revgnn/pkg/results"
	"github.com/revgnn/revgnn/pkg/train"
)

// tiny is a profile of seconds on the pure-Go engine.
func tiny() Profile {
	small := func(model string, change func(c *train.Config)) train.Config {
		return with(model, func(c *train.Config) {
			c.Forward, c.Reverse, c.Hidden, c.Epochs, c.MaxIterations = 2, 2, 4, 2, 4
			change(c)
		})
	}
	p := Quick()
	p.Name, p.Datasets = "tiny", []string{"minesweeper", "tolokers"}
	p.Candidates = func(_, model string) []train.Config {
		return []train.Config{small(model, func(c *train.Config) { c.LearningRate = 0.01 }), small(model, func(c *train.Config) { c.LearningRate = 1e30 })}
	}
	p.Boards = [2]train.Config{small("gcn+rep", func(*train.Config) {}), small("gcn", func(*train.Config) {})}
	return p
}

// runner runs on a board of 100 columns, whatever the dataset is called; tolokers is not here.
func runner(t *testing.T, path string) *Runner {
	t.Helper()
	store, err := results.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	e := enginetest.Open(t, engine.Go)
	return &Runner{Scope: Scope{Profile: tiny(), Models: []string{"gcn", "gcn+rep"}}, Store: store,
		Engine: func() (*engine.Engine, error) { return e, nil },
		Load: func(ctx context.Context, name string) (*graphs.Graph, error) {
			if name != "minesweeper" {
				return nil, errors.New("no such file")
			}
			return datasets.Load(ctx, "minesweeper-generated:rows=92,cols=100", datasets.Options{})
		}}
}

// TestInterruptedAndResumed stops in the middle, twice, and expects every run to be made once.
func TestInterruptedAndResumed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.sqlite")
	items, err := Choose([]string{"table2", "fig4"})
	if err != nil {
		t.Fatal(err)
	}
	r := runner(t, path)
	first, err := r.Plan(items)
	if err != nil || first.Missing == 0 {
		t.Fatalf("%+v, %v", first, err)
	}
	var ran []string
	for _, limit := range []int{2, 3, 1000} {
		ctx, cancel := context.WithCancel(t.Context())
		r = runner(t, path)
		count, stopped := 0, false
		r.Ended = func(record results.Record) { ran = append(ran, record.Key) }
		r.Starts = func(Progress) { count++ }
		r.Epoch = func(Task, train.Epoch) {
			if count == limit { // in the middle of a run
				stopped = true
				cancel()
			}
		}
		err := r.Run(ctx, items)
		if stopped != (err != nil) || stopped && !strings.Contains(err.Error(), "interrupted in") {
			t.Fatalf("stopped %v, %v", stopped, err)
		}
		cancel()
	}
	all, err := r.Store.Find(results.Query{})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(ran)
	if len(all) != len(ran) || len(slices.Compact(ran)) != len(all) {
		t.Errorf("%d records of %d runs", len(all), len(ran))
	}
	if last, err := r.Plan(items); err != nil || last.Missing != 0 {
		t.Errorf("%d runs are missing in the end, %v", last.Missing, err)
	}
	documents, err := r.Documents(items)
	if err != nil {
		t.Fatal(err)
	}
	text, err := documents[0].Tables[0].Markdown()
	if err != nil || !strings.Contains(text, "dataset not here (no such file)") || !strings.Contains(text, "3 splits") {
		t.Errorf("%v in\n%s", err, text)
	}
	if figures := documents[1].Figures; len(figures) != 2 {
		t.Errorf("figure 4 has %d examples; %q", len(figures), documents[1].Notes)
	}
	if record := all[0]; record.Profile != "tiny" || record.Checksum == "" || record.Engine != engine.Go {
		t.Errorf("got %+v", record)
	}
}

func TestRandomGraphs(t *testing.T) {
	g, err := Load(t.Context(), "random:nodes=100,edges=200", datasets.Options{})
	if err != nil || g.NumNodes != 100 || len(g.Edges) != 200 || len(g.Splits) != 1 {
		t.Fatalf("got %v, %v", g, err)
	}
	if _, err := Load(t.Context(), "random:nodes=4,edges=200", datasets.Options{}); err == nil {
		t.Error("more edges than pairs were accepted")
	}
	r, err := Execute(t.Context(), Place{Engine: enginetest.Open(t, engine.Go), Graph: g, Alone: true}, func() Task {
		c := train.Default("gcn+rep")
		c.Forward, c.Reverse, c.Hidden, c.Epochs = 1, 1, 4, 2
		return whole(results.Bench, g.Name, c)
	}())
	if err != nil || r.Status != results.OK {
		t.Fatalf("%+v, %v", r, err)
	}
	if machine.ResidentSet() > 0 && !strings.Contains(string(r.Outcome), `"idle_rss_bytes"`) {
		t.Errorf("the memory was not measured: %s", r.Outcome)
	}
}
