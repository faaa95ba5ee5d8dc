package nb_test

import (
	"fmt"

	"github.com/revgnn/revgnn/pkg/report/nb"
)

// This example compares the results of two trainings in a table. Here the results are written by hand. In a notebook,
// package live trains networks and returns their results as [nb.Runs], and [nb.Show] displays the table below the cell.
func ExampleRuns_Table() {
	runs := nb.Runs{Metric: "ROC-AUC", Runs: []nb.Run{
		{Name: "GCN", Forward: 8, Val: 0.921, Test: 0.918},
		{Name: "GCN+ReP", Base: "GCN", Forward: 1, Reverse: 32, Val: 0.935, Test: 0.93},
	}}
	table := runs.Table("scores", "Scores", nb.ForwardLayers, nb.ReverseLayers, nb.Test(1))
	fmt.Println(table.Text())
	// Output:
	// **Scores**
	//
	// | Network | Layers: forward | Layers: reverse | ROC-AUC: test<br><small>%</small> |
	// | :-- | --: | --: | --: |
	// | GCN | 8 | 0 | 91.8 |
	// | GCN+ReP | 1 | 32 | **93.0** |
	//
	// **Bold**: the best of the column.
}
