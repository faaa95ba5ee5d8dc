package sparse

import (
	"math/rand/v2"
	"testing"

	"github.com/revgnn/revgnn/pkg/graphs"
)

// TestPlaces compares the counts with the layouts, on graphs without edges, with short rows, and rows of up to three levels.
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
		for i, matrix := range []func(*graphs.Graph) (*Matrix, error){SymNorm, Neighbourhoods} {
			m, err := matrix(g)
			if err != nil {
				t.Fatal(err)
			}
			places, terms := 0, 0
			for l := &m.level; l != nil; l = l.next {
				for _, b := range l.buckets {
					places += b.rows * b.terms
					terms += b.terms
				}
			}
			if p, n := Places(g, []Layout{Constant, Computed}[i]); p != places || n != terms {
				t.Errorf("%d edges: %d places and %d terms, the layout has %d and %d", len(g.Edges), p, n, places, terms)
			}
		}
	}
}
