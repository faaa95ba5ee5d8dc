package sparse

import (
	"fmt"
	"math"
	"slices"

	"github.com/revgnn/revgnn/pkg/graphs"
)

// Adjacency returns the adjacency matrix A of the graph, [n, n] for n nodes: A_ij is 1 if the nodes i and j are
// neighbours, and 0 otherwise. It ignores the directions of edges, so that A is symmetric. For directed edges, see [In]
// and [Out]. For lists of edges, see [FromEdges].
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

// In returns the adjacency matrix B of incoming edges, [n, n] for n nodes: B_ij is 1 if an edge leads from node j to
// node i, and 0 otherwise. So (B x)_i is a sum over the nodes that point to i. For a graph without directions, In
// returns the same as [Adjacency].
func In(g *graphs.Graph) *CSR {
	if !g.Directed() {
		return Adjacency(g)
	}
	return Out(g).Transpose()
}

// Out returns the adjacency matrix C of outgoing edges, [n, n] for n nodes: C_ij is 1 if an edge leads from node i to
// node j, and 0 otherwise. So (C x)_i is a sum over the nodes that i points to. Papers on directed graphs often call
// this matrix A. C is the transpose of the matrix of [In]. For a graph without directions, Out returns the same as
// [Adjacency].
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

// FromEdges returns the adjacency matrix A of directed edges, which are given as lists. Edge e of the lists leads from
// node source[e] to node target[e]. The edge becomes the entry of A in row target[e] and column source[e]. The value of
// the entry is weight[e], or 1 if weight is nil. The argument targets is the number of rows, and the argument sources
// is the number of columns. For edges within one graph, both are the number of nodes. For edges between two sets of
// nodes, the rows are the nodes that edges lead to, and the columns are the nodes that edges come from.
//
// Edges may be in any order. An edge that is given twice becomes two entries. The field Edge of the result says which
// entry was made from which edge.
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
	// Two transpositions sort the edges. The matrix list has a row for each edge e, with one entry, in column
	// source[e]. Its transpose, bySource, has a row for each source, with an entry in column e for each edge e from
	// this source. The loop below replaces each column e by target[e]. Now bySource has a row for each source and a
	// column for each target. Its transpose is the result: it has a row for each target, in which the entries are
	// sorted by source.
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

// WithSelfLoops returns a copy of the matrix with an additional entry of weight 1 on the diagonal, in every row that
// has no entry there. For an adjacency matrix A without self loops, the result is A + I. It panics if
// the matrix is not square.
func (a *CSR) WithSelfLoops() *CSR {
	if a.Rows != a.Columns {
		panic(fmt.Errorf("sparse matrix: self loops need a square matrix, and this one is %d x %d", a.Rows, a.Columns))
	}
	s := &CSR{Rows: a.Rows, Columns: a.Columns, Start: make([]int, a.Rows+1), mirrored: a.mirrored}
	copied := func(from, to int) {
		s.Column, s.Weight = append(s.Column, a.Column[from:to]...), append(s.Weight, a.Weight[from:to]...)
		if a.Edge != nil {
			s.Edge = append(s.Edge, a.Edge[from:to]...)
		}
	}
	s.Column, s.Weight = make([]int32, 0, a.Entries()+a.Rows), make([]float32, 0, a.Entries()+a.Rows)
	for i := range a.Rows {
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

// scaled returns a copy of the matrix with other weights. The weight w of entry (i, j) becomes f(w, r_i, c_j), where
// r_i is the sum of the weights in row i, and c_j is the sum of the weights in column j.
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

// over returns w / d, or 0 if d is 0. The normalisations below use it, since the sum of a row or column may be 0.
func over(w, d float64) float64 {
	if d == 0 {
		return 0
	}
	return w / d
}

// SymmetricNormalised returns D_r^-1/2 A D_c^-1/2, where A is this matrix. The diagonal matrices D_r and D_c hold the
// row sums and the column sums of A. If A is the adjacency matrix of an undirected graph with self loops, the result is
// the matrix of Kipf and Welling's graph convolution (ICLR 2017). If A has directed edges, the result is the matrix of
// Dir-GNN (Rossi et al., LoG 2023). The weights must not be negative.
func (a *CSR) SymmetricNormalised() *CSR {
	return a.scaled(func(w, r, c float64) float64 { return over(w, math.Sqrt(r*c)) })
}

// RowNormalised returns D_r^-1 A, where A is this matrix, and the diagonal matrix D_r holds the row sums of A. Each row
// of the result sums to 1, except rows without entries. So the product of the result with features is a mean over
// neighbours, as in GraphSAGE (Hamilton et al., NeurIPS 2017).
func (a *CSR) RowNormalised() *CSR {
	return a.scaled(func(w, r, _ float64) float64 { return over(w, r) })
}

// ColumnNormalised returns A D_c^-1, where A is this matrix, and the diagonal matrix D_c holds the column sums of A.
// Each column of the result sums to 1, except columns without entries.
func (a *CSR) ColumnNormalised() *CSR {
	return a.scaled(func(w, _, c float64) float64 { return over(w, c) })
}
