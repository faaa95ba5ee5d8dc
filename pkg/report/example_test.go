package report_test

import (
	"fmt"

	"github.com/revgnn/revgnn/pkg/report"
)

func ExampleTable() {
	published := report.Mean(96.05, 0.19, 10, 2).Published()
	t := &report.Table{
		ID: "heterophilic", Title: "Test scores on heterophilic datasets", Corner: "Model",
		Columns: []report.Column{{Name: "Minesweeper", Unit: "ROC-AUC [%]", Best: report.Highest},
			{Name: "Questions"}},
		Rows: []report.Row{
			{Group: "Plain backbones", Label: "GCN",
				Cells: []report.Cell{report.Mean(89.75, 0.52, 10, 2).Ranked(), {}}},
			{Group: "With reverse layers", Label: "GCN+ReP", Cells: []report.Cell{
				report.Mean(95.9, 0.21, 10, 2).Ranked().Below(report.Text("1/256"), published),
				report.Missing("not run"),
			}},
		},
	}
	fmt.Println(t.Text())
	// Output:
	// **Test scores on heterophilic datasets**
	//
	// | Model | Minesweeper<br><small>ROC-AUC \[%\]</small> | Questions |
	// | :-- | :-: | :-: |
	// | *Plain backbones* |  |  |
	// | GCN | 89.75<small> ± 0.52</small> |  |
	// | *With reverse layers* |  |  |
	// | GCN+ReP | **95.90**<small> ± 0.21</small><br><small>1/256</small><br><small><i>96.05 ± 0.19</i></small> | –<sup>a</sup> |
	//
	// **Bold**: the best of the column. <i>Italic</i>: published numbers, not computed here.
	//
	// <sup>a</sup> Missing: not run
}

func ExampleFitLine() {
	layers, seconds := []float64{16, 64, 256, 1024}, []float64{0.051, 0.193, 0.721, 2.895}
	fit, err := report.FitLine(layers, seconds)
	if err != nil {
		fmt.Println(err)
		return
	}
	measured := report.Series{Name: "GCN+ReP", X: layers, Y: seconds, Style: report.Points}
	f := report.Curves("runtime", "Time per epoch", "reverse layers", "time [s]",
		[]report.Series{measured, fit.Series("fit: "+fit.Text("s per layer"), measured.Name)},
		report.Axes{Log2X: true, LogY: true})
	fmt.Println(f.Alt)
	// Output:
	// Curves of time [s] over reverse layers: GCN+ReP, fit: 0.00282 s per layer (R² > 0.9999).
}
