package sparse

import (
	"fmt"
	"math"
	"slices"

	"github.com/revgnn/revgnn/pkg/graphs"
)

// Adjacency is the adjacency matrix A, [n, n]: A_ij is the weight of the edge between i and j, 1 in graphs without
// weights. It ignores directions: see [In] and [Out].
func Adjacency(g *graphs.Graph) *CSR {
	a := &CSR{Rows: g.NumNodes, Columns: g.NumNodes, Start: make([]int, g.NumNodes+1), mirrored: true}
	a.Column = make([]int32, 0, 2*len(g.Edges))
	for i, list := range g.Neighbours() {
		a.Column = append(a.Column, list...)
		a.Start[i+1] = len(a.Column)
	}
	a.Weight = ones(len(a.Column))
	if g.Weighted() { // in the order of [graphs.Graph.Neighbours]: first smaller ones, then larger ones
		at := slices.Clone(a.Start)
		for _, end := range []int{1, 0} {
			for k, e := range g.Edges {
				a.Weight[at[e[end]]] = g.EdgeWeights[k]
				at[e[end]]++
			}
		}
	}
	return a
}

// In is the adjacency of incoming edges, [n, n]: B_ij is the weight, or 1, of an edge that leads from j to i, so that
// (B x)_i sums over the nodes that point to i. Without directions, it is [Adjacency].
func In(g *graphs.Graph) *CSR {
	if !g.Directed() {
		return Adjacency(g)
	}
	return Out(g).Transpose()
}

// Out is the transpose of [In]: C_ij is the weight, or 1, of an edge from i to j. Papers on directed graphs often call
// it A.
func Out(g *graphs.Graph) *CSR {
	if !g.Directed() {
		return Adjacency(g)
	}
	a := &CSR{Rows: g.NumNodes, Columns: g.NumNodes, Start: make([]int, g.NumNodes+1),
		Column: make([]int32, len(g.Arcs)), Weight: ones(len(g.Arcs))}
	for e, arc := range g.Arcs { // sorted by source, then by target
		a.Start[arc[0]+1] = e + 1
		a.Column[e] = arc[1]
	}
	if g.Weighted() {
		copy(a.Weight, g.ArcWeights)
	}
	for i := range a.Rows {
		a.Start[i+1] = max(a.Start[i], a.Start[i+1])
	}
	return a
}

func ones(n int) []float32 { return slices.Repeat([]float32{1}, n) }

// FromEdges is the adjacency of directed edges: edge e is the entry weight[e], or 1 if weight is nil, in row target[e]
// and column source[e]. Targets and sources may be two sets of nodes. Edges may be in any order, and twice.
func FromEdges(targets, sources int, target, source []int32, weight []float32) (*CSR, error) {
	if targets < 0 || sources < 0 {
		return nil, fmt.Errorf("sparse matrix: %d targets and %d sources: neither can be negative", targets, sources)
	}
	if len(target) != len(source) || weight != nil && len(weight) != len(source) {
		return nil, fmt.Errorf("sparse matrix: %d targets, %d sources and %d weights of edges: give one each per edge",
			len(target), len(source), len(weight))
	}
	for e, i := range target {
		if i < 0 || int(i) >= targets || source[e] < 0 || int(source[e]) >= sources {
			return nil, fmt.Errorf("sparse matrix: edge %d leads from %d to %d, but sources are numbered 0 to %d, "+
				"targets 0 to %d",
				e, source[e], i, sources-1, targets-1)
		}
	}
	// Two transpositions sort the edges: list has a row for each edge, with an entry in the column of its source;
	// bySource then has a row for each source with the edges from it, replaced by their targets; its transpose is the
	// result.
	list := &CSR{Rows: len(source), Columns: sources, Start: make([]int, len(source)+1), Column: source}
	for e := range source {
		list.Start[e+1] = e + 1
	}
	bySource, edge := list.transposed()
	for k, e := range bySource.Column {
		bySource.Column[k] = target[e]
	}
	bySource.Columns = targets
	a, from := bySource.transposed()
	for k, f := range from {
		a.Weight[k] = 1
		if weight != nil {
			a.Weight[k] = weight[edge[f]]
		}
	}
	return a, a.Validate()
}

// FromDense makes an entry of each number other than zero in a dense matrix with rows of so many columns.
func FromDense(rows []float32, columns int) (*CSR, error) {
	if columns <= 0 || len(rows)%columns != 0 {
		return nil, fmt.Errorf("sparse matrix: %d numbers are no rows of %d", len(rows), columns)
	}
	a := &CSR{Rows: len(rows) / columns, Columns: columns, Start: make([]int, len(rows)/columns+1)}
	for k, v := range rows {
		if v != 0 {
			a.Column, a.Weight = append(a.Column, int32(k%columns)), append(a.Weight, v)
			a.Start[k/columns+1]++
		}
	}
	for i := range a.Rows {
		a.Start[i+1] += a.Start[i]
	}
	return a, nil
}

// WithSelfLoops is a copy with entries of weight 1 on the diagonal of a square matrix where there are none: A + I.
func (a *CSR) WithSelfLoops() *CSR {
	if a.Rows != a.Columns {
		panic(fmt.Errorf("sparse matrix: self loops need a square matrix, and this one is %d x %d", a.Rows, a.Columns))
	}
	s := &CSR{Rows: a.Rows, Columns: a.Columns, Start: make([]int, a.Rows+1), mirrored: a.mirrored}
	s.Column, s.Weight = make([]int32, 0, a.Entries()+a.Rows), make([]float32, 0, a.Entries()+a.Rows)
	for i := range a.Rows {
		from, to := a.Start[i], a.Start[i+1]
		at, there := slices.BinarySearch(a.Column[from:to], int32(i))
		at += len(s.Column)
		s.Column, s.Weight = append(s.Column, a.Column[from:to]...), append(s.Weight, a.Weight[from:to]...)
		if !there {
			s.Column, s.Weight = slices.Insert(s.Column, at, int32(i)), slices.Insert(s.Weight, at, 1)
		}
		s.Start[i+1] = len(s.Column)
	}
	return s
}

// normalised has the weights w / by(r, c, i, j), or 0 where this divides by 0, in place of w at (i, j), for the sums r of
// rows and c of columns.
func (a *CSR) normalised(by func(r, c []float64, i int, j int32) float64) *CSR {
	rows, columns := make([]float64, a.Rows), make([]float64, a.Columns)
	a.each(func(e, i int, j int32) {
		rows[i] += float64(a.Weight[e])
		columns[j] += float64(a.Weight[e])
	})
	s := *a
	s.Weight = make([]float32, a.Entries())
	a.each(func(e, i int, j int32) {
		if d := by(rows, columns, i, j); d != 0 {
			s.Weight[e] = float32(float64(a.Weight[e]) / d)
		}
	})
	return &s
}

func (a *CSR) each(visit func(e, i int, j int32)) {
	for i := range a.Rows {
		for e := a.Start[i]; e < a.Start[i+1]; e++ {
			visit(e, i, a.Column[e])
		}
	}
}

// SymmetricNormalised is D_r^-1/2 A D_c^-1/2 for the sums D_r of rows and D_c of columns: with self loops, the matrix
// of Kipf and Welling (ICLR 2017); of directed edges, that of Dir-GNN (Rossi et al., LoG 2023). Weights must not be
// negative.
func (a *CSR) SymmetricNormalised() *CSR {
	return a.normalised(func(r, c []float64, i int, j int32) float64 { return math.Sqrt(r[i] * c[j]) })
}

// NormalisedByTargets is D_r^-1/2 A D_r^-1/2 for the sums D_r of rows, the numbers of incoming edges, of a square
// matrix: PyTorch Geometric's normalisation of directed edges.
func (a *CSR) NormalisedByTargets() *CSR {
	return a.normalised(func(r, _ []float64, i int, j int32) float64 { return math.Sqrt(r[i] * r[j]) })
}

// RowNormalised is D_r^-1 A: a mean over neighbours, as in GraphSAGE (Hamilton et al., NeurIPS 2017).
func (a *CSR) RowNormalised() *CSR {
	return a.normalised(func(r, _ []float64, i int, _ int32) float64 { return r[i] })
}
