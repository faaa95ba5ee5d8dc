package sparse

import (
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
)

// TestOwnWeights takes the adjacency matrix of an undirected graph, and sets weights that make the matrix unsymmetric.
// The method Symmetric must return false for this matrix. The gradient of a product with the matrix must be a product
// with the transpose.
func TestOwnWeights(t *testing.T) {
	g, err := graphs.New("path", 3, []graphs.Edge{{0, 1}, {1, 2}}, nil, 0, make([]int32, 3), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	a := Adjacency(g)
	for i := range a.Rows {
		for e := a.Start[i]; e < a.Start[i+1]; e++ {
			a.Weight[e] = float32(1 + 10*i)
		}
	}
	if a.Symmetric() || !Adjacency(g).Symmetric() || !Adjacency(g).WithSelfLoops().SymmetricNormalised().Symmetric() ||
		Adjacency(g).RowNormalised().Symmetric() {
		t.Error("symmetry is not told")
	}
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		m, err := NewMatrix(a, AsGiven(3), ForCPU)
		if err != nil {
			t.Fatal(err)
		}
		exec, err := NewExec(e.Backend, func(in []*Node) *Node {
			return Gradient(ReduceAllSum(m.On(in[1:]).Product(in[0])), in[0])[0]
		})
		if err != nil {
			t.Fatal(err)
		}
		defer exec.Finalize()
		args := []any{[][]float32{{1}, {1}, {1}}}
		for _, t := range m.Tensors() {
			args = append(args, t)
		}
		out, err := exec.Call(args...)
		if err != nil {
			t.Fatal(err)
		}
		if got := tensors.MustCopyFlatData[float32](out[0]); got[0] != 11 || got[1] != 22 || got[2] != 11 {
			t.Errorf("the gradient is %v, want [11 22 11]", got)
		}
	})
}
