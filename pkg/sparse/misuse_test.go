package sparse_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// Wrong uses of patterns and matrices are reported as errors when the GoMLX computation is built.
func TestMisuse(t *testing.T) {
	e := enginetest.Open(t, engine.Go)
	a := sparse.Adjacency(random(3, 10, 20, 0))
	all := must(sparse.NewPattern(a, sparse.PatternOptions{}))
	loops := must(sparse.NewPattern(a, sparse.PatternOptions{Uses: sparse.ForLoopAttention}))
	m := must(sparse.NewMatrix(a, nil, sparse.ForCPU))
	for want, f := range map[string]func(x *Node, all, loops, m []*Node){
		`needs the array "mirror"`: func(x *Node, _, l, _ []*Node) {
			Gradient(ReduceAllSum(loops.On(l).Sources(x)), x)
		},
		`needs the array "diagonal"`:  func(_ *Node, n, _, _ []*Node) { all.On(n).Bare().Diagonal() },
		"nodes for":                   func(_ *Node, n, _, _ []*Node) { all.On(n[1:]) },
		"Product needs x of shape [1": func(x *Node, _, _, n []*Node) { m.On(n).Product(joined(x, 0)) },
		"Sum needs values of edges":   func(x *Node, n, _, _ []*Node) { all.On(n).Sum(x) },
		"Sources needs x of shape":    func(x *Node, n, _, _ []*Node) { all.On(n).Sources(joined(x, 0)) },
		"Targets needs x of shape":    func(x *Node, n, _, _ []*Node) { all.On(n).Targets(Reshape(x, 20)) },
		"among 3 heads":               func(x *Node, n, _, _ []*Node) { all.On(n).Dots(x, x, 3) },
		"rows of one width":           func(x *Node, n, _, _ []*Node) { all.On(n).Dots(x, joined(x, 1), 2) },
	} {
		exec, err := NewExec(e.Backend, func(in []*Node) *Node {
			i, j := 1+len(all.Tensors()), 1+len(all.Tensors())+len(loops.Tensors())
			f(in[0], in[1:i], in[i:j], in[j:])
			return in[0]
		})
		if err != nil {
			t.Fatal(err)
		}
		args := []any{matrix(normal(rand.New(rand.NewPCG(1, 1)), 20), 10, 2)}
		for _, a := range slices.Concat(all.Tensors(), loops.Tensors(), m.Tensors()) {
			args = append(args, must(a.LocalClone()))
		}
		if _, err := exec.Call(args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

func joined(x *Node, axis int) *Node { return Concatenate([]*Node{x, x}, axis) }

// TestSpreadCollect gives Spread the values of each entry. Spread copies them to the places of the entry, one for each
// head. From these places, Collect must return the same values for each entry and head.
func TestSpreadCollect(t *testing.T) {
	a := directed(3, 20, 20, 60, 40)
	p := must(sparse.NewPattern(a, sparse.PatternOptions{Heads: 2}))
	values := normal(rand.New(rand.NewPCG(1, 1)), 3*a.Entries())
	back := sparse.Collect(p, sparse.Spread(p, values, 3), 3)
	for e := range a.Entries() {
		for k := range 2 {
			if at := (2*e + k) * 3; !slices.Equal(back[at:at+3], values[3*e:3*e+3]) {
				t.Fatalf("entry %d of head %d came back as %v", e, k, back[at:at+3])
			}
		}
	}
}
