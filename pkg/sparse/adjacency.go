package sparse

import (
	"fmt"
	"math"
	"slices"

	"github.com/revgnn/revgnn/pkg/graphs"
)

// Adjacency is the adjacency matrix A, n x n: A_ij = 1 where i and j are neighbours. It ignores the directions of
// edges, so that A is symmetric. See [In] and [Out] for directed edges, and [FromEdges] for edges given as a list of
// targets and a list of sources.
func Adjacency(g *graphs.Graph) *CSR {
	a := &CSR{Rows: g.NumNodes, Columns: g.NumNodes, Start: make([]int, g.NumNodes+1), mirrored: true}
	a.Column = make([]int32, 0, 2*len(g.Edges))
	for i, list := range g.Neighbours() {
		a.Column = append(a.Column, list...)
		a.Start[i+1] = len(a.Column)
	}
	a.Weight = ones(len(a.Column))
	return a
}

// In is the adjacency of incoming edges, n x n: In_ij = 1 where an edge leads from j to i, so that (In x)_i sums over
// the nodes that point to i. Rows are targets and columns sources, as everywhere in this package. For a graph without
// directions, In and [Out] return the same as [Adjacency].
func In(g *graphs.Graph) *CSR {
	if !g.Directed() {
		return Adjacency(g)
	}
	return Out(g).Transpose()
}

// Out is the adjacency of outgoing edges, the transpose of [In]: Out_ij = 1 where an edge leads from i to j, so that
// (Out x)_i sums over the nodes that i points to. Papers on directed graphs call this matrix A.
func Out(g *graphs.Graph) *CSR {
	if !g.Directed() {
		return Adjacency(g)
	}
	a := &CSR{Rows: g.NumNodes, Columns: g.NumNodes, Start: make([]int, g.NumNodes+1),
		Column: make([]int32, len(g.Arcs)), Weight: ones(len(g.Arcs))}
	for e, arc := range g.Arcs { // Arcs is sorted by source and, for equal sources, by target
		a.Start[arc[0]+1] = e + 1
		a.Column[e] = arc[1]
	}
	for i := range a.Rows {
		a.Start[i+1] = max(a.Start[i], a.Start[i+1])
	}
	return a
}

func ones(n int) []float32 { return slices.Repeat([]float32{1}, n) }

// FromEdges is the adjacency matrix of directed edges. Edge e leads from node source[e] to node target[e]. A_ij is the
// weight of the edge from j to i, or 1 if weight is nil. The first argument is the number of rows, and the second is
// the number of columns. For edges within one graph, both are the number of nodes. For edges between two sets of nodes,
// the rows are the set that edges lead to, and the columns are the set that edges come from. Edges may be in any order.
// An edge that is given twice has two entries. The field Edge of the result says which entry was made from which edge.
func FromEdges(targets, sources int, target, source []int32, weight []float32) (*CSR, error) {
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
	// Two transpositions sort the edges. The matrix called list has a row for each edge e, with a single entry in
	// column source[e]. Its transpose, bySource, has the edges sorted by source. The columns of bySource are then
	// replaced by the edges' targets, and bySource is transposed. The result has the edges sorted by target; edges with
	// the same target stay sorted by source.
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
	a.Edge = make([]int32, len(from))
	for k, f := range from {
		a.Edge[k] = edge[f]
		a.Weight[k] = 1
		if weight != nil {
			a.Weight[k] = weight[edge[f]]
		}
	}
	return a, a.Validate()
}

// FromDense makes a sparse matrix from a dense one, with an entry for each number other than zero. The first argument
// lists the numbers of the dense matrix row by row, and the second is the length of a row.
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

// WithSelfLoops adds an entry of weight 1 on the diagonal of every row that has no entry there. For an A without self
// loops the result is A + I. A must be square.
func (a *CSR) WithSelfLoops() *CSR {
	s := &CSR{Rows: a.Rows, Columns: a.Columns, Start: make([]int, a.Rows+1), mirrored: a.mirrored}
	copied := func(from, to int) {
		s.Column, s.Weight = append(s.Column, a.Column[from:to]...), append(s.Weight, a.Weight[from:to]...)
		if a.Edge != nil {
			s.Edge = append(s.Edge, a.Edge[from:to]...)
		}
	}
	s.Column, s.Weight = make([]int32, 0, a.Entries()+a.Rows), make([]float32, 0, a.Entries()+a.Rows)
	for i := range min(a.Rows, a.Columns) {
		from, to := a.Start[i], a.Start[i+1]
		at, there := slices.BinarySearch(a.Column[from:to], int32(i))
		copied(from, from+at)
		if !there {
			s.Column, s.Weight = append(s.Column, int32(i)), append(s.Weight, 1)
			if a.Edge != nil {
				s.Edge = append(s.Edge, -1)
			}
		}
		copied(from+at, to)
		s.Start[i+1] = len(s.Column)
	}
	return s
}

// scaled replaces the weight w of each entry (i, j) by f(w, r_i, c_j), where r_i is the sum of row i and c_j the sum of
// column j.
func (a *CSR) scaled(f func(w, row, column float64) float64) *CSR {
	rows, columns := make([]float64, a.Rows), make([]float64, a.Columns)
	a.each(func(e, i int, j int32) {
		rows[i] += float64(a.Weight[e])
		columns[j] += float64(a.Weight[e])
	})
	s := *a
	s.Weight = make([]float32, a.Entries())
	a.each(func(e, i int, j int32) { s.Weight[e] = float32(f(float64(a.Weight[e]), rows[i], columns[j])) })
	return &s
}

// each calls the function visit for every entry, with the entry's number, row and column.
func (a *CSR) each(visit func(e, i int, j int32)) {
	for i := range a.Rows {
		for e := a.Start[i]; e < a.Start[i+1]; e++ {
			visit(e, i, a.Column[e])
		}
	}
}

// over is w / d, or 0 if d is 0. Rows and columns whose sum is 0 thus get weights of 0.
func over(w, d float64) float64 {
	if d == 0 {
		return 0
	}
	return w / d
}

// SymmetricNormalised is D_r^-1/2 A D_c^-1/2, where the diagonal matrices D_r and D_c hold the row sums and the column
// sums of A. For A + I in place of A, it is the matrix of Kipf and Welling's graph convolution (ICLR 2017). For an A of
// directed edges, it is the matrix of Dir-GNN (Rossi et al., LoG 2023). Weights must not be negative.
func (a *CSR) SymmetricNormalised() *CSR {
	return a.scaled(func(w, r, c float64) float64 { return over(w, math.Sqrt(r*c)) })
}

// RowNormalised is D_r^-1 A, where the diagonal matrix D_r holds the row sums of A. The rows of the result sum to 1. A
// product with the result is a mean over neighbours, as in GraphSAGE (Hamilton et al., NeurIPS 2017). Empty rows stay
// empty.
func (a *CSR) RowNormalised() *CSR {
	return a.scaled(func(w, r, _ float64) float64 { return over(w, r) })
}

// ColumnNormalised is A D_c^-1, where the diagonal matrix D_c holds the column sums of A. The columns of the result sum
// to 1.
func (a *CSR) ColumnNormalised() *CSR {
	return a.scaled(func(w, _, c float64) float64 { return over(w, c) })
}
