package paper

import (
	"slices"
	"testing"

	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/runs"
)

// TestRemediesOfFigure3: figure 3 has a panel for each remedy for over-smoothing. A panel has a curve for each model
// with this remedy. For comparison, the panel also has the curve of the reverse process, up to the largest number of
// layers of these models. All panels have the same vertical scale.
func TestRemediesOfFigure3(t *testing.T) {
	p := Paper()
	items, err := Choose([]string{"fig3"})
	if err != nil {
		t.Fatal(err)
	}
	s := runs.Scope{Profile: p.Profile}
	v := &View{runs.NewView(s, allRuns(t, s, p, items)), p}
	reverse := report.Series{Name: "reverse", X: []float64{1, 64, 1024}, Y: []float64{-0.15, 0.2, 0.3}}
	d := &Document{}
	plots := d.remedies(v, "chameleon-filtered", []report.Series{reverse})
	if len(plots) != len(p.Smoothness.Remedies) {
		t.Fatalf("%d panels", len(plots))
	}
	for i, plot := range plots {
		models := p.Smoothness.Remedies[i].Models
		last := plot.Series[len(plot.Series)-1]
		if len(plot.Series) != len(models)+1 || !slices.Equal(last.X, []float64{1, 64}) ||
			plot.Axes.RangeY != [2]float64{-0.2, 1} {
			t.Errorf("panel %q: %+v", plot.Title, plot)
		}
	}
	if plots[0].Title != "GCN with PairNorm" || plots[0].Series[0].Name != "16 layers" {
		t.Errorf("panel %q begins with %q", plots[0].Title, plots[0].Series[0].Name)
	}
}
