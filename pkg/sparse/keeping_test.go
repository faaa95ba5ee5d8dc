package sparse

import (
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
)

// The graph is a path of the nodes 0, 1 and 2 with self loops, and Keeping drops the edge between 1 and 2. Afterwards
// the maximum and the softmax over the neighbours of node 1 leave out node 2. The maximum and the softmax over the
// neighbours of node 2 leave out node 1. Keeping refuses a pattern of directed edges.
func TestKeeping(t *testing.T) {
	g, err := graphs.New("path", 3, []graphs.Edge{{0, 1}, {1, 2}}, nil, 0, make([]int32, 3), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		p, err := NewPattern(Adjacency(g).WithSelfLoops(), PatternOptions{Order: AsGiven(3)})
		if err != nil {
			t.Fatal(err)
		}
		// Row 0 of the pattern has the columns 0 and 1, row 1 has 0, 1 and 2, and row 2 has 1 and 2. The list below has
		// a number for each of these seven entries, row by row. The number is 0 for the two entries of the edge between
		// 1 and 2, and 1 for all others.
		keep := Spread(p, []float32{1, 1, 1, 1, 0, 0, 1}, 1)
		exec, err := NewExec(e.Backend, func(in []*Node) *Node {
			edges := p.On(in[1:]).Bare().Keeping(in[0])
			number := Const(in[0].Graph(), [][]float32{{0}, {1}, {2}})
			mean := edges.Product(edges.Softmax(ZerosLike(in[0])), number)
			return Concatenate([]*Node{edges.Max(edges.Sources(number)), mean}, 1)
		})
		if err != nil {
			t.Fatal(err)
		}
		defer exec.Finalize()
		args := []any{tensors.FromFlatDataAndDimensions(keep, len(keep), 1)}
		for _, t := range p.Tensors() {
			args = append(args, t)
		}
		out, err := exec.Call(args...)
		if err != nil {
			t.Fatal(err)
		}
		got := tensors.MustCopyFlatData[float32](out[0])
		for i, want := range []float32{1, 0.5, 1, 0.5, 2, 2} {
			if got[i] != want {
				t.Errorf("value %d is %g, want %g", i, got[i], want)
			}
		}
	})
	directed, err := FromEdges(2, 2, []int32{0}, []int32{1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	one, err := NewPattern(directed, PatternOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if p := recover(); p == nil || !strings.Contains(p.(error).Error(), "both directions") {
			t.Errorf("a directed pattern: got %v", p)
		}
	}()
	BareEdges{p: one}.Keeping(nil)
}
