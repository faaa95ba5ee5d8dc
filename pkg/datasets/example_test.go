package datasets_test

import (
	"context"
	"fmt"

	"github.com/revgnn/revgnn/pkg/datasets"
)

func ExampleLoad() {
	g, err := datasets.Load(context.Background(), "minesweeper-generated:rows=10,cols=10", datasets.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.NumNodes, "nodes,", len(g.Edges), "edges,", g.NumFeatures, "features,", len(g.Splits), "splits")
	// Output: 100 nodes, 342 edges, 7 features, 10 splits
}
