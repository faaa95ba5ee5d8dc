package gradient_test

import (
	"fmt"
	"log"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/gradient"
)

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
		root := gradient.Custom(y, []*Node{x}, func(v *Node) []*Node {
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
