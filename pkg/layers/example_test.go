package layers_test

import (
	"fmt"
	"log"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// This example runs three GCN layers X + ReLU(Â X W + b) forwards, and then three backwards, on two nodes that are
// neighbours. The norm of W is bounded by 0.8, so that every layer has an inverse: running the layers backwards gives
// the input again.
func ExampleGCN() {
	edges, err := sparse.FromEdges(2, 2, []int32{0, 1}, []int32{1, 0}, nil)
	if err != nil {
		log.Fatal(err)
	}
	adjacency, err := sparse.NewMatrix(edges.WithSelfLoops().SymmetricNormalised(), sparse.AsGiven(2), sparse.ForCPU)
	if err != nil {
		log.Fatal(err)
	}
	layer := layers.GCN{}

	e, err := engine.Open(engine.Go)
	if err != nil {
		log.Fatal(err)
	}
	exec, err := NewExec(e.Backend, func(in []*Node) []*Node {
		x, w, b, arrays := in[0], in[1], in[2], in[3:]
		w = layers.Bound(layers.SpectralNorm, 0.8, []*Node{w}, []int{1})[0]
		weights := layers.GCNWeights{W: w, B: b, A: adjacency.On(arrays)}
		y := solve.Forward(layer, x, weights, 3)
		again := solve.Invert(layer, y, weights, 3, solve.Options{Tolerance: 1e-6, MaxIterations: 100})
		return []*Node{y, again.Z}
	})
	if err != nil {
		log.Fatal(err)
	}
	defer exec.Finalize()
	args := []any{[][]float32{{1, 4}, {3, 2}}, [][]float32{{3, 0}, {0, 4}}, []float32{0.1, 0}}
	for _, t := range adjacency.Tensors() {
		args = append(args, t)
	}
	out, err := exec.Call(args...)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("forwards       %.2f\n", tensors.MustCopyFlatData[float32](out[0]))
	fmt.Printf("and back again %.2f\n", tensors.MustCopyFlatData[float32](out[1]))
	// Output:
	// forwards       [7.71 18.50 9.71 16.50]
	// and back again [1.00 4.00 3.00 2.00]
}
