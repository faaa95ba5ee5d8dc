package sparse_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// Ranked returns the same values as sorting. Some of the edges' values are very large, very small, zero or equal. The
// values of padding are NaN, and must have no effect.
func TestRanked(t *testing.T) {
	a := sparse.Adjacency(random(3, 60, 150, 40))
	p := must(sparse.NewPattern(a, sparse.PatternOptions{}))
	m := a.Entries()
	rng := rand.New(rand.NewPCG(4, 4))
	edges := make([]float32, m)
	for i := range edges {
		edges[i] = float32(math.Exp(20 * rng.NormFloat64()))
		if i%7 == 0 {
			edges[i] = float32(i % 2)
		}
	}
	places := sparse.Spread(p, edges, 1)
	for i, stored := range sparse.Spread(p, slices.Repeat([]float32{1}, m), 1) {
		if stored == 0 {
			places[i] = float32(math.NaN())
		}
	}
	slices.Sort(edges)
	ranks := []int{0, m / 4, m / 2, 3 * m / 4, m - 1}
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		p := must(sparse.NewPattern(a, sparse.PatternOptions{}))
		exec, err := NewExec(e.Backend, func(in []*Node) *Node { return p.On(in[1:]).Ranked(in[0], ranks...) })
		if err != nil {
			t.Fatal(err)
		}
		defer exec.Finalize()
		in := []any{tensors.FromFlatDataAndDimensions(slices.Clone(places), len(places), 1)}
		for _, x := range p.Tensors() {
			in = append(in, x)
		}
		out, err := exec.Call(in...)
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range tensors.MustCopyFlatData[float32](out[0]) {
			if want := edges[ranks[i]]; got != want {
				t.Errorf("rank %d of %d has %g, want %g", ranks[i], m, got, want)
			}
		}
	})
}
