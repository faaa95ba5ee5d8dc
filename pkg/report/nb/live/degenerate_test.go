package live

import (
	"testing"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/report/echarts"
	"github.com/revgnn/revgnn/pkg/report/nb"
	"github.com/revgnn/revgnn/pkg/train"
)

// TestDegenerate draws all that the notebook for one's own graph shows of graphs without edges, with isolated nodes,
// and with features that are zero or constant.
func TestDegenerate(t *testing.T) {
	if _, err := echarts.Path(); err != nil {
		t.Skip(err)
	}
	t.Setenv(engine.Variable, engine.Go)
	board, err := datasets.Minesweeper{Rows: 6, Cols: 6, Mines: 0.3, Unknown: 0.3, Seed: 1}.Graph()
	if err != nil {
		t.Fatal(err)
	}
	few := board.Edges[:4]
	for name, of := range map[string]struct {
		edges []graphs.Edge
		value func(v float32) float32
	}{"no edges": {nil, func(v float32) float32 { return v }}, "isolated nodes": {few, func(v float32) float32 { return v }},
		"zeros":             {board.Edges, func(float32) float32 { return 0 }},
		"constant features": {board.Edges, func(float32) float32 { return 1 }}} {
		x := make([]float32, len(board.Features))
		for i, v := range board.Features {
			x[i] = of.value(v)
		}
		g, err := graphs.New(name, board.NumNodes, of.edges, x, board.NumFeatures, board.Labels, 2, board.Splits)
		if err != nil {
			t.Fatal(err)
		}
		settings := func(c *train.Config) { c.Hidden, c.Epochs, c.Norm = 8, 3, "batch" }
		layers := []int{0, 1, 2}
		runs := Compare(g, settings, Network{Name: "GCN", Model: "gcn+rep", Forward: 2, Layers: layers},
			Network{Name: "GCN+ReP", Model: "gcn+rep", Base: "GCN", Forward: 1, Reverse: 2, Layers: layers})
		for what, item := range map[string]report.Item{"statistics": nb.Statistics("a", "a", g), "degrees": nb.Degrees("b", "b", g),
			"table": runs.Table("c", "c", nb.ForwardLayers, nb.Validation(1), nb.Test(1), nb.Adds("reverse", 1), nb.Seconds),
			"GSL":   runs.Smoothness("d", "d"), "measures": runs.Smoothness("e", "e", nb.Dirichlet, nb.MAD, nb.EffectiveRank),
			"losses": runs.Losses("f", "f"), "scores": runs.Scores("g", "g")} {
			if _, err := item.HTML(); err != nil {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
	}
}
