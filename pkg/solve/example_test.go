package solve_test

import (
	"fmt"
	"log"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/solve"
)

// The example defines an invertible layer f(X) = X + h(X), with h(X) = 0.4 sin(X W) + 0.1 mean(X). Here mean(X) is the
// mean of all rows of X, which is added to every row. The spectral norm of W is 1. So Lip(h) <= 0.4 + 0.1 = 0.5 < 1. No
// derivative is written by hand: GoMLX computes it.
func ExampleFromFunction() {
	type weights struct{ W *Node }
	layer := solve.FromFunction(func(x *Node, w weights) *Node {
		return Add(MulScalar(Sin(Dot(x, w.W).Product()), 0.4), MulScalar(ReduceAndKeep(x, ReduceMean, 0), 0.1))
	})

	e, err := engine.Open(engine.Go)
	if err != nil {
		log.Fatal(err)
	}
	exec, err := NewExec(e.Backend, func(x, w *Node) []*Node {
		// Apply four layers backwards, then the same layers forwards.
		s := solve.Invert(layer, x, weights{w}, 4, solve.Options{Tolerance: 1e-6, MaxIterations: 50})
		again := solve.Forward(layer, s.Z, weights{w}, 4)
		grads := Gradient(ReduceAllSum(Square(s.Z)), x, w)
		return []*Node{s.Z, again, grads[0], grads[1], s.Residual}
	})
	if err != nil {
		log.Fatal(err)
	}
	defer exec.Finalize()
	out, err := exec.Call([][]float32{{1, 2}, {3, -1}, {0.5, 1}}, [][]float32{{0.6, 0.8}, {-0.8, 0.6}})
	if err != nil {
		log.Fatal(err)
	}
	for i, name := range []string{"g(X)", "f(g(X))", "gradient by X", "gradient by W"} {
		fmt.Printf("%-14s %.2f\n", name, tensors.MustCopyFlatData[float32](out[i]))
	}
	fmt.Println("solved:", tensors.ToScalar[float32](out[4]) < 1e-6)
	// Output:
	// g(X)           [0.85 0.54 2.05 -2.06 0.22 0.24]
	// f(g(X))        [1.00 2.00 3.00 -1.00 0.50 1.00]
	// gradient by X  [-0.49 2.17 21.36 -15.17 -1.24 0.36]
	// gradient by W  [51.95 18.59 -35.26 -14.69]
	// solved: true
}

// The example applies eight layers, x_l+1 = tanh(x_l W_l + b). Each layer has its own weight W_l, and all layers share
// the bias b. The layer is compiled once.
func ExampleScan() {
	e, err := engine.Open(engine.Go)
	if err != nil {
		log.Fatal(err)
	}
	exec, err := NewExec(e.Backend, func(x, w, b *Node) []*Node {
		y := solve.Scan(func(_, x, w, b *Node) *Node {
			return Tanh(Add(Dot(x, w).Product(), ExpandLeftToRank(b, 2)))
		}, x, w, b, 8)
		grads := Gradient(ReduceAllSum(y), w, b)
		return []*Node{y, grads[0], grads[1]}
	})
	if err != nil {
		log.Fatal(err)
	}
	defer exec.Finalize()
	w := make([]float32, 8*2*2)
	for i := range w {
		w[i] = float32(i%5) / 4
	}
	stack := tensors.FromFlatDataAndDimensions(w, 8, 2, 2)
	out, err := exec.Call([][]float32{{1, 2}, {3, -1}, {0, 1}}, stack, []float32{0.1, -0.1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("result %.2f\n", tensors.MustCopyFlatData[float32](out[0]))
	fmt.Println("gradients", out[1].Shape(), out[2].Shape())
	// Output:
	// result [0.45 0.42 0.01 -0.29 0.43 0.38]
	// gradients (Float32)[8, 2, 2] (Float32)[2]
}
