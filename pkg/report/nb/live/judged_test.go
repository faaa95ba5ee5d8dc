package live

import (
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/report/nb"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/trained"
)

// TestJudged shows the measures of a model that was trained for the macro F1, whose threshold is told, and its confusion
// matrix.
func TestJudged(t *testing.T) {
	g, err := datasets.Minesweeper{Rows: 8, Cols: 8, Mines: 0.2, Unknown: 0.3, Seed: 1}.Graph()
	if err != nil {
		t.Fatal(err)
	}
	c, e := train.Default("gcn"), nb.Must(engine.Open(engine.Go))
	c.Epochs, c.Metric = 5, "macro-f1"
	m := nb.Must(trained.New(g, c, e.Name, nb.Must(train.Fit(t.Context(), e, g, 0, c, nil))))
	items := Judged("own", m, nb.Must(m.Evaluate(e, g, "all", 0)))
	for i, wanted := range [][]string{{"average precision [%]", "log loss [nats]", "labelled (64 nodes)",
		"For the macro F1, a node is taken for 1 above"}, {"Confusion matrix of the labelled nodes"}} {
		html, err := items[i].HTML()
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wanted {
			if !strings.Contains(html, want) {
				t.Errorf("item %d lacks %q", i, want)
			}
		}
	}
}
