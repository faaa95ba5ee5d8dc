package engine_test

import (
	"fmt"
	"log"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
)

// The example compiles a GoMLX function and runs it on the pure-Go engine. To use the fastest engine that is installed,
// call engine.Open("").
func ExampleOpen() {
	e, err := engine.Open(engine.Go)
	if err != nil {
		log.Fatal(err)
	}
	exec, err := NewExec(e.Backend, func(x, w *Node) *Node { return Tanh(Dot(x, w).Product()) })
	if err != nil {
		log.Fatal(err)
	}
	defer exec.Finalize()
	out, err := exec.Call([][]float32{{1, 2}}, [][]float32{{0.5}, {-0.25}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(e.Name, tensors.MustCopyFlatData[float32](out[0]))
	// Output: go [0]
}
