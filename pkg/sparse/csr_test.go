package sparse_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func TestFromEdges(t *testing.T) {
	// The edges are 2 → 0 (twice), 0 → 1 and 1 → 0.
	a := must(sparse.FromEdges(3, 3, []int32{0, 1, 0, 0}, []int32{2, 0, 1, 2}, []float32{5, 6, 7, 8}))
	if !slices.Equal(a.Start, []int{0, 3, 4, 4}) || !slices.Equal(a.Column, []int32{1, 2, 2, 0}) ||
		!slices.Equal(a.Weight, []float32{7, 5, 8, 6}) || a.Symmetric() {
		t.Errorf("got %+v", a)
	}
	if !slices.Equal(a.Start, []int{0, 3, 4, 4}) || a.Entries() != 4 {
		t.Errorf("rows start at %v of %d entries", a.Start, a.Entries())
	}
	b := a.Transpose().Transpose()
	if !slices.Equal(dense(b), dense(a)) || !slices.Equal(b.Weight, a.Weight) {
		t.Errorf("transposed twice, %+v", b)
	}
}

func TestTimes(t *testing.T) {
	a := must(sparse.FromDense([]float32{0, 2, 3, 0, 0, 0, 1, 0, 0}, 3))
	if got := a.Product([]float32{1, 2, 3, 4, 5, 6}, 2); !slices.Equal(got, []float32{21, 26, 0, 0, 1, 2}) {
		t.Errorf("got %v", got)
	}
}

// In and Out keep the directions of edges. For a graph without directions, both equal Adjacency.
func TestDirections(t *testing.T) {
	g := must(graphs.New("g", 4, []graphs.Edge{{0, 2}, {1, 2}}, nil, 0, make([]int32, 4), 1, nil))
	for name, a := range map[string]*sparse.CSR{"in": sparse.In(g), "out": sparse.Out(g)} {
		if !slices.Equal(dense(a), dense(sparse.Adjacency(g))) || !a.Symmetric() {
			t.Errorf("%s of a graph without directions: %+v", name, a)
		}
	}
	directed := must(g.WithArcs([]graphs.Arc{{2, 0}, {3, 3}, {1, 2}, {2, 1}}))
	out := []float32{0, 0, 0, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0, 0, 1}
	in := []float32{0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1}
	for name, c := range map[string]struct {
		a    *sparse.CSR
		want []float32
	}{
		"in": {sparse.In(directed), in}, "out": {sparse.Out(directed), out},
		"undirected": {sparse.Out(directed.Undirected()), dense(sparse.Adjacency(g))},
	} {
		if err := c.a.Validate(); err != nil || !slices.Equal(dense(c.a), c.want) {
			t.Errorf("%s: %v, want %v (%v)", name, dense(c.a), c.want, err)
		}
	}
}

func TestNormalisations(t *testing.T) {
	a := must(sparse.FromDense([]float32{0, 2, 2, 0, 0, 0, 1, 0, 0}, 3)) // row 1 is empty
	for name, c := range map[string]struct {
		a    *sparse.CSR
		want []float32
	}{
		"rows":       {a.RowNormalised(), []float32{0, 0.5, 0.5, 0, 0, 0, 1, 0, 0}},
		"symmetric":  {a.SymmetricNormalised(), []float32{0, 0.70710678, 0.70710678, 0, 0, 0, 1, 0, 0}},
		"self loops": {a.WithSelfLoops().WithSelfLoops(), []float32{1, 2, 2, 0, 1, 0, 1, 0, 1}},
	} {
		if got := dense(c.a); farthest(got, c.want) > 1e-7 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestRefuses(t *testing.T) {
	square := must(sparse.FromDense([]float32{0, 1, 1, 0}, 2))
	wide := must(sparse.FromDense([]float32{0, 1, 1, 0}, 4))
	bad := func(change func(a *sparse.CSR)) *sparse.CSR {
		a := must(sparse.FromDense([]float32{1, 1, 1, 0}, 2))
		change(a)
		return a
	}
	matrix := func(a *sparse.CSR, o sparse.Order) error { _, err := sparse.NewMatrix(a, o, sparse.ForCPU); return err }
	rectangle := func(a *sparse.CSR) error { _, err := sparse.NewRectangular(a, nil, nil, sparse.ForCPU); return err }
	pattern := func(a *sparse.CSR, o sparse.PatternOptions) error { _, err := sparse.NewPattern(a, o); return err }
	edges := func(target, source []int32, w []float32) error {
		_, err := sparse.FromEdges(2, 3, target, source, w)
		return err
	}
	_, columns := sparse.FromDense(make([]float32, 6), 4)
	_, none := sparse.FromDense(nil, 0)
	for want, err := range map[string]error{
		"NewRectangular":      matrix(wide, nil),
		"an order of 1":       matrix(square, sparse.Order{0}),
		"there already":       matrix(square, sparse.Order{1, 1}),
		"outside 0 to 1":      matrix(bad(func(a *sparse.CSR) { a.Column[1] = 2 }), nil),
		"must ascend":         matrix(bad(func(a *sparse.CSR) { a.Column[0] = 1; a.Column[1] = 0 }), nil),
		"weights for 3":       matrix(bad(func(a *sparse.CSR) { a.Weight = nil }), nil),
		"Start must be":       matrix(bad(func(a *sparse.CSR) { a.Start = a.Start[1:] }), nil),
		"no fewer than 0":     rectangle(bad(func(a *sparse.CSR) { a.Rows = -1 })),
		"set Bipartite":       pattern(wide, sparse.PatternOptions{}),
		"an order of 3":       pattern(wide, sparse.PatternOptions{Bipartite: true, Order: sparse.AsGiven(3)}),
		"no diagonal":         pattern(wide, sparse.PatternOptions{Bipartite: true, Uses: sparse.ForDiagonal}),
		"edge 0 leads from 3": edges([]int32{0}, []int32{3}, nil),
		"give one each":       edges([]int32{0}, []int32{1, 2}, nil),
		"and 2 weights":       edges([]int32{0}, []int32{1}, []float32{1, 2}),
		"no rows of 4":        columns,
		"no rows of 0":        none,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}
