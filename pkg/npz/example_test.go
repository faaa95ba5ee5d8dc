package npz_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/revgnn/revgnn/pkg/npz"
)

// The example writes an archive and reads it again. NumPy's function numpy.load could read the archive, too.
func Example() {
	dir, err := os.MkdirTemp("", "npz")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "graph.npz")
	err = npz.Write(path, []npz.Named{
		{Name: "edges", Shape: []int{3, 2}, Values: []int64{0, 1, 1, 2, 2, 0}},
		{Name: "node_features", Shape: []int{3, 1}, Values: []float32{0.5, 1, 1.5}},
	})
	if err != nil {
		log.Fatal(err)
	}

	file, err := npz.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	edges, shape, err := file.Int64s("edges", 2)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(file.Names(), shape, edges)
	// Output: [edges node_features] [3 2] [0 1 1 2 2 0]
}
