package sparse

import (
	"math/rand/v2"
	"testing"

	"github.com/revgnn/revgnn/pkg/graphs"
)

// TestPlaces compares the counts with the layouts, on graphs without edges, with short rows, and rows of up to
// three levels.
func TestPlaces(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, edges := range []int{0, 40, 3000, 20000, 200000} {
		n := max(400, edges/20)
		list := make([]graphs.Edge, edges)
		for i := range list { // squares make some nodes hubs
			x := rng.Float64()
			list[i] = graphs.Edge{int32(x * x * x * float64(n)), int32(rng.IntN(n))}
		}
		g, err := graphs.New("random", n, list, nil, 0, make([]int32, n), 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, layout := range []Layout{Constant, Computed} {
			a := Adjacency(g).WithSelfLoops()
			m := slice(a, 1, AsGiven(n), AsGiven(n).positions(), layout)
			terms := 0
			for l := m.level; l != nil; l = l.next {
				for _, b := range l.buckets {
					terms += b.terms
				}
			}
			if p, n := Places(g, layout); p != len(m.column)+len(m.chunk) || n != terms {
				t.Errorf("%d edges, layout %d: %d places and %d terms, but there are %d and %d",
					len(g.Edges), i, p, n, len(m.column)+len(m.chunk), terms)
			}
		}
	}
}
