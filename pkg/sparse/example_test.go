package sparse_test

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// The example computes a layer of GraphSAGE (Hamilton et al., NeurIPS 2017), h_i = ReLU(x_i W + m_i V), with the
// weights W and V. Here m_i is the mean of x_j over the edges from j to i. The example also computes the gradient of
// the sum of all h_i with respect to x.
func Example() {
	// The edges are 0 → 2, 1 → 2 and 2 → 3.
	a, err := sparse.FromEdges(4, 4, []int32{2, 2, 3}, []int32{0, 1, 2}, nil)
	if err != nil {
		panic(err)
	}
	mean, err := sparse.NewMatrix(a.RowNormalised(), sparse.AsGiven(4), sparse.ForCPU)
	if err != nil {
		panic(err)
	}
	layer := func(x, w, v *Node, arrays []*Node) *Node {
		y := Add(Dot(x, w).Product(), Dot(mean.On(arrays).Product(x), v).Product())
		return Max(y, ZerosLike(y))
	}

	e, err := engine.Open(engine.Go)
	if err != nil {
		panic(err)
	}
	exec, err := NewExec(e.Backend, func(in []*Node) []*Node {
		h := layer(in[0], in[1], in[2], in[3:])
		return []*Node{h, Gradient(ReduceAllSum(h), in[0])[0]}
	})
	if err != nil {
		panic(err)
	}
	args := []any{[][]float32{{1}, {3}, {5}, {7}}, [][]float32{{1}}, [][]float32{{10}}}
	for _, t := range mean.Tensors() {
		args = append(args, t)
	}
	out, err := exec.Call(args...)
	if err != nil {
		panic(err)
	}
	fmt.Println(tensors.MustCopyFlatData[float32](out[0]))
	fmt.Println(tensors.MustCopyFlatData[float32](out[1]))
	// Output:
	// [1 3 25 57]
	// [6 6 11 1]
}

// The example computes graph attention with two heads (Veličković et al., ICLR 2018). In the pattern, every node has a
// copy for each head, and every copy has a row. Therefore the features of n nodes are reshaped from [n, heads*d] to
// [n*heads, d]. The scores of sources and targets are reshaped from [n, heads] to [n*heads, 1].
func ExamplePattern() {
	const heads = 2
	a, err := sparse.FromEdges(3, 3, []int32{2, 2}, []int32{0, 1}, nil)
	if err != nil {
		panic(err)
	}
	options := sparse.PatternOptions{Heads: heads, Order: sparse.AsGiven(3)}
	pattern, err := sparse.NewPattern(a.WithSelfLoops(), options)
	if err != nil {
		panic(err)
	}
	layer := func(values, source, target *Node, arrays []*Node) *Node {
		edges, n, d := pattern.On(arrays), values.Shape().Dimensions[0], values.Shape().Dimensions[1]
		scores := Add(edges.Sources(Reshape(source, n*heads, 1)), edges.Targets(Reshape(target, n*heads, 1)))
		attention := edges.Softmax(Max(scores, MulScalar(scores, 0.2)))
		return Reshape(edges.Product(attention, Reshape(values, n*heads, d/heads)), n, d)
	}

	e, err := engine.Open(engine.Go)
	if err != nil {
		panic(err)
	}
	exec, err := NewExec(e.Backend, func(in []*Node) []*Node {
		h := layer(in[0], in[1], in[2], in[3:])
		return []*Node{h, Gradient(ReduceAllSum(h), in[0])[0]}
	})
	if err != nil {
		panic(err)
	}
	scores := [][]float32{{0, 0}, {0, 0}, {0, 100}} // in the second head, node 2 attends only to itself
	args := []any{[][]float32{{1, 2}, {3, 4}, {8, 9}}, scores, [][]float32{{0, 0}, {0, 0}, {0, 0}}}
	for _, t := range pattern.Tensors() {
		args = append(args, t)
	}
	out, err := exec.Call(args...)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.3g\n", tensors.MustCopyFlatData[float32](out[0]))
	fmt.Printf("%.3g\n", tensors.MustCopyFlatData[float32](out[1]))
	// Output:
	// [1 2 3 4 4 9]
	// [1.33 1 1.33 1 0.333 1]
}
