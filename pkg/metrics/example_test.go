package metrics_test

import (
	"fmt"
	"log"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/metrics"
)

// The example computes the ROC-AUC first of all nodes, and then of the nodes that a mask selects.
func ExampleMeasure_Of() {
	logits, labels := []float32{0.9, 0.2, 0.6, 0.4}, []int32{1, 0, 0, 1}
	for _, mask := range [][]bool{nil, {true, true, false, true}} {
		p, err := metrics.Select(logits, 1, labels, mask)
		if err != nil {
			log.Fatal(err)
		}
		auc, err := metrics.Named("roc_auc").Of(p, metrics.Even)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(auc)
	}
	// Output:
	// 0.75
	// 1
}

// The example computes the graph smoothness level (GSL) twice: first for two nodes whose features are perpendicular,
// then for two nodes whose features point in the same direction.
func ExampleSmooth() {
	g, err := graphs.New("two nodes", 2, []graphs.Edge{{0, 1}}, nil, 0, []int32{0, 1}, 2, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, x := range [][]float32{{1, 0, 0, 1}, {1, 1, 2, 2}} { // two nodes with two features each
		s, err := metrics.Smooth(g, x, 2)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%.2f\n", s.GSL)
	}
	// Output:
	// 0.00
	// 1.00
}
