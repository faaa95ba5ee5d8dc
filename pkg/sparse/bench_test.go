package sparse_test

import (
	"math/rand/v2"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// BenchmarkEdges times single operations of patterns, and the gradient of an attention layer. The graph has 10 000
// nodes with about nine edges each, and features have 64 columns. The case "gradient" uses the derivatives of package
// sparse. In the case "scattered", GoMLX differentiates the same layer itself, by scatters.
func BenchmarkEdges(b *testing.B) {
	const n, d = 10000, 64
	a := sparse.Adjacency(random(1, n, 4*n, 0)).WithSelfLoops()
	p := must(sparse.NewPattern(a, sparse.PatternOptions{}))
	type operations interface {
		Sources(x *Node) *Node
		Targets(x *Node) *Node
		Softmax(scores *Node) *Node
		Product(w, x *Node) *Node
	}
	gradient := func(e operations, x *Node) *Node {
		s := Slice(x, AxisRange(), AxisElem(0))
		w := e.Softmax(Add(e.Sources(s), e.Targets(s)))
		return Gradient(ReduceAllSum(Square(e.Product(w, x))), x)[0]
	}
	for name, f := range map[string]func(w, x *Node, arrays []*Node) *Node{
		"product":   func(w, x *Node, arrays []*Node) *Node { return p.On(arrays).Bare().Product(w, x) },
		"dots":      func(_, x *Node, arrays []*Node) *Node { return p.On(arrays).Bare().Dots(x, x, 1) },
		"transpose": func(w, _ *Node, arrays []*Node) *Node { return p.On(arrays).Bare().Transpose(w) },
		"softmax":   func(w, _ *Node, arrays []*Node) *Node { return p.On(arrays).Bare().Softmax(w) },
		"gradient":  func(_, x *Node, arrays []*Node) *Node { return gradient(p.On(arrays), x) },
		"scattered": func(_, x *Node, arrays []*Node) *Node { return gradient(p.On(arrays).Bare(), x) },
	} {
		b.Run(name, func(b *testing.B) {
			e := enginetest.Open(b, engine.CPU)
			exec, err := NewExec(e.Backend, func(in []*Node) *Node { return f(in[0], in[1], in[2:]) })
			if err != nil {
				b.Fatal(err)
			}
			defer exec.Finalize()
			rng := rand.New(rand.NewPCG(7, 8))
			args := []any{matrix(normal(rng, p.Places()), p.Places(), 1), matrix(normal(rng, n*d), n, d)}
			for _, a := range p.Tensors() {
				args = append(args, must(a.LocalClone()))
			}
			for b.Loop() {
				out, err := exec.Call(args...)
				if err != nil {
					b.Fatal(err)
				}
				tensors.MustCopyFlatData[float32](out[0])
				out[0].MustFinalizeAll()
			}
		})
	}
}
