package loop_test

import (
	"fmt"
	"log"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/loop"
)

// The example computes five steps of personalised PageRank, X ← 0.9 A X + 0.1 X0, for a graph with two nodes. A is the
// graph's matrix, and X0 is the first X. X is the state of the loop, which the body changes. A and X0 are only read.
func ExampleRepeat() {
	type inputs struct{ a, start *Node }
	e, err := engine.Open(engine.Go)
	if err != nil {
		log.Fatal(err)
	}
	exec, err := NewExec(e.Backend, func(a, x *Node) *Node {
		steps := loop.Int(x.Graph(), 5)
		return loop.Repeat(steps, x, inputs{a, x}, func(_ *Node, x *Node, in inputs) *Node {
			mixed := Dot(in.a, x).Product()
			return Add(loop.Scale(mixed, loop.Float(x, 0.9)), loop.Scale(in.start, loop.Float(x, 0.1)))
		})
	})
	if err != nil {
		log.Fatal(err)
	}
	defer exec.Finalize()
	out, err := exec.Call([][]float32{{0, 1}, {1, 0}}, [][]float32{{1}, {0}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f\n", tensors.MustCopyFlatData[float32](out[0]))
	// Output: [0.247 0.753]
}

// The example computes y = sqrt(x) by Newton's iteration y ← (y + x/y)/2. GoMLX does not differentiate the iterations,
// since the gradient is written by hand. It follows from y² = x: the gradient of the loss with respect to x is the
// gradient of the loss with respect to y, divided by 2 y.
func ExampleCustom() {
	e, err := engine.Open(engine.Go)
	if err != nil {
		log.Fatal(err)
	}
	exec, err := NewExec(e.Backend, func(x *Node) []*Node {
		y := OnesLike(x)
		for range 20 {
			y = DivScalar(Add(y, Div(x, y)), 2)
		}
		root := loop.Custom(y, []*Node{x}, func(v *Node) []*Node {
			return []*Node{Div(v, MulScalar(y, 2))}
		})
		return []*Node{root, Gradient(ReduceAllSum(root), x)[0]}
	})
	if err != nil {
		log.Fatal(err)
	}
	defer exec.Finalize()
	out, err := exec.Call([]float32{1, 4, 9})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("roots    %.3f\n", tensors.MustCopyFlatData[float32](out[0]))
	fmt.Printf("gradient %.3f\n", tensors.MustCopyFlatData[float32](out[1]))
	// Output:
	// roots    [1.000 2.000 3.000]
	// gradient [0.500 0.250 0.167]
}
