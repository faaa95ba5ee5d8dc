package layers_test

import (
	"fmt"
	"testing"
	"time"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// BenchmarkTwins times layers by hand and their automatic twins in turn: 64 reverse layers of width 64 on a board of
// 10,000 nodes, forward and backward. It reports the ratio of the twin's time to that by hand; above 1.1, the layer by
// hand stays.
func BenchmarkTwins(b *testing.B) {
	e := enginetest.Open(b, engine.CPU)
	const side, d, depth = 100, 64, 64
	var target, source []int32
	for i := range side * side {
		for r := -1; r <= 1; r++ {
			for c := -1; c <= 1; c++ {
				row, column := i/side+r, i%side+c
				if row >= 0 && row < side && column >= 0 && column < side {
					target, source = append(target, int32(i)), append(source, int32(row*side+column))
				}
			}
		}
	}
	board := must(sparse.FromEdges(side*side, side*side, target, source, nil))
	norm := must(sparse.NewMatrix(board.SymmetricNormalised(), nil, sparse.ForCPU))
	pattern := must(sparse.NewPattern(board,
		sparse.PatternOptions{Uses: sparse.ForGradients | sparse.ForLoopAttention}))
	relu := func(u *Node) *Node { return Max(u, ZerosLike(u)) }
	plus := func(u, b *Node) *Node { return Add(u, ExpandLeftToRank(b, 2)) }
	for _, c := range []struct {
		name   string
		hand   solve.Layer[listed]
		twin   func(x *Node, w listed) *Node
		w      []*tensors.Tensor
		arrays []*tensors.Tensor
	}{
		{"GCN", taping[layers.GCNWeights]{gcn(norm, layers.GCN{})}, func(x *Node, w listed) *Node {
			return plus(Dot(norm.On(w.Arrays).Product(x), w.W[0]).Product(), w.W[1])
		}, []*tensors.Tensor{draw(2, 0.5, d, d), draw(3, 0.2, d)}, norm.Tensors()},
		{"SAGE", taping[layers.GCNWeights]{gcn(norm, layers.GCN{})}, func(x *Node, w listed) *Node {
			return plus(Add(Dot(norm.On(w.Arrays).Product(x), w.W[0]).Product(), Dot(x, w.W[2]).Product()), w.W[1])
		}, []*tensors.Tensor{draw(2, 0.5, d, d), draw(3, 0.2, d), draw(4, 0.4, d, d)}, norm.Tensors()},
		{"GAT", gat(pattern, layers.GAT{}), func(x *Node, w listed) *Node {
			edges, y := pattern.On(w.Arrays), Dot(x, w.W[0]).Product()
			part := func(from, size int) *Node { return Slice(y, AxisRange(), AxisRange(from, from+size)) }
			score := Add(edges.Sources(part(d, 1)), edges.Targets(part(d+1, 1)))
			return plus(edges.Attend(Max(score, MulScalar(score, 0.2)), part(0, d)), w.W[1])
		}, []*tensors.Tensor{draw(2, 0.5, d, d+2), draw(3, 0.2, d)}, pattern.Tensors()},
	} {
		b.Run(c.name, func(b *testing.B) {
			run := func(l solve.Layer[listed]) func() {
				exec := must(NewExec(e.Backend, func(in []*Node) []*Node {
					w := in[1 : 1+len(c.w)]
					s := solve.Invert(l, in[0], listed{w, fixed(in[1+len(c.w):])}, depth,
						solve.Options{Tolerance: 1e-5, MaxIterations: 16, Order: solve.DefaultOrder})
					loss := ReduceAllMean(Mul(s.Z, s.Z))
					grads := Gradient(loss, append(append([]*Node{}, w...), s.Adjoint)...)
					return append([]*Node{loss, s.Iterations}, grads...)
				}))
				args := []any{draw(1, 100, side*side, d)}
				for _, a := range append(append([]*tensors.Tensor{}, c.w...), c.arrays...) {
					args = append(args, must(a.LocalClone()))
				}
				first := true
				return func() {
					out := must(exec.Call(args...))
					tensors.ToScalar[float32](out[0])
					if first {
						told := tensors.MustCopyFlatData[float32](out[len(out)-1])
						b.Log(fmt.Sprint(c.name, ": iterations ", out[1].Value(), ", adjoint ", told[0]))
						first = false
					}
				}
			}
			hand, twin := run(c.hand), run(solve.FromFunction(func(x *Node, w listed) *Node { return relu(c.twin(x, w)) }))
			hand()
			twin()
			var took [2]time.Duration
			for b.Loop() {
				for i, f := range []func(){hand, twin} {
					start := time.Now()
					f()
					took[i] += time.Since(start)
				}
			}
			b.ReportMetric(float64(took[1])/float64(took[0]), "twin/hand")
		})
	}
}
