package live

import (
	"fmt"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/train"
)

// TestCompare trains two networks by [Compare] on the engine in pure Go. For the first network, the result must be the
// same as that of [train.Fit] with the same settings.
func TestCompare(t *testing.T) {
	t.Setenv(engine.Variable, engine.Go)
	if got := Choose("compiled", "pure Go"); got != "pure Go" {
		t.Errorf("on the pure-Go engine, %q is chosen", got)
	}
	g, err := datasets.Minesweeper{Rows: 8, Cols: 8, Mines: 0.2, Unknown: 0.3, Seed: 1}.Graph()
	if err != nil {
		t.Fatal(err)
	}
	settings := func(c *train.Config) { c.Hidden, c.Epochs = 8, 3+c.Reverse }
	runs := Compare(g, settings, Network{Name: "GCN", Model: "gcn", Forward: 2},
		Network{Name: "GCN+ReP", Model: "gcn+rep", Base: "GCN", Forward: 1, Reverse: 2, Layers: []int{0, 1, 2}})
	if runs.Metric != "ROC-AUC" || len(runs.Labels) != 64 || len(runs.Runs) != 2 {
		t.Fatalf("%s, %d labels, %d runs", runs.Metric, len(runs.Labels), len(runs.Runs))
	}
	plain, reverse := runs.Runs[0], runs.Runs[1]
	if plain.Epochs != 3 || plain.Base != "" || len(plain.History) != 3 || len(plain.Probability) != 64 ||
		plain.ForwardStates != nil {
		t.Errorf("%+v", plain)
	}
	if reverse.Epochs != 5 || reverse.Base != "GCN" || reverse.Forward != 1 || reverse.Reverse != 2 ||
		len(reverse.ForwardStates) != 2 || len(reverse.ReverseStates) != 3 {
		t.Errorf("%+v", reverse)
	}
	c := train.Default("gcn")
	c.Forward = 2
	settings(&c)
	want, err := train.Fit(t.Context(), must(engine.Open("")), g, 0, c, nil)
	if err != nil || plain.Test != float64(want.Test) || plain.History[2].Loss != float64(want.History[2].Loss) {
		t.Errorf("test %v, want %v; %v", plain.Test, want, err)
	}
}

func TestCompareSaysWhatDiverged(t *testing.T) {
	t.Setenv(engine.Variable, engine.Go)
	g, err := datasets.Minesweeper{Rows: 8, Cols: 8, Mines: 0.2, Unknown: 0.3, Seed: 1}.Graph()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if said := fmt.Sprint(recover()); !strings.Contains(said, "training GCN") || !strings.Contains(said, "lr") {
			t.Errorf("%q, want which training diverged, and what to do", said)
		}
	}()
	settings := func(c *train.Config) { c.LearningRate, c.Epochs = 1e38, 9 }
	Compare(g, settings, Network{Name: "GCN", Model: "gcn", Forward: 2})
}

func must(e *engine.Engine, err error) *engine.Engine {
	if err != nil {
		panic(err)
	}
	return e
}
