package graphs_test

import (
	"fmt"
	"log"

	"github.com/revgnn/revgnn/pkg/graphs"
)

// The example builds a path of four nodes with two features each. The class of node 3 is not known.
func ExampleNew() {
	edges := []graphs.Edge{{0, 1}, {2, 1}, {2, 3}, {1, 0}} // {1, 0} is the same edge as {0, 1}, and is dropped
	features := []float32{1, 0, 0, 1, 1, 1, 0, 0}
	labels := []int32{0, 1, 0, graphs.Unlabelled}
	split := graphs.Split{
		Train: []bool{true, false, false, false},
		Val:   []bool{false, true, false, false},
		Test:  []bool{false, false, true, false},
	}
	g, err := graphs.New("path", 4, edges, features, 2, labels, 2, []graphs.Split{split})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("edges:", g.Edges)
	fmt.Println("degrees:", g.Degrees(), "neighbours of node 1:", g.Neighbours()[1])
	fmt.Println("labelled:", g.Labelled(), "can be trained on split 0:", g.Teaches(0) == nil)
	// Output:
	// edges: [[0 1] [1 2] [2 3]]
	// degrees: [1 2 2 1] neighbours of node 1: [0 2]
	// labelled: 3 can be trained on split 0: true
}
