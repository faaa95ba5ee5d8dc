package sparse

import (
	"fmt"
	"math"
	"slices"
)

// CSR is a sparse matrix in main memory, in the format "compressed sparse row". Row i has the entries Start[i] to
// Start[i+1]-1, by ascending column. Entry e is in column Column[e] and has the weight Weight[e]. In an adjacency
// matrix A, the rows are the targets of edges, and the columns are the sources. So (A x)_i sums the messages that node
// i receives.
//
// [Adjacency], [In], [Out], [FromEdges] and [FromDense] make a CSR. [NewMatrix], [NewRectangular] and [NewPattern]
// convert a CSR to the form in which the engine computes with it.
type CSR struct {
	Rows, Columns int
	Start         []int
	Column        []int32
	Weight        []float32
	// Edge[e] is the number of the edge that [FromEdges] made entry e from, or -1 if WithSelfLoops added entry e. Edge
	// is nil if the matrix does not come from FromEdges.
	Edge []int32

	// mirrored says that for every entry (i, j) there is an entry (j, i), whatever their weights. If mirrored is false,
	// this is not known.
	mirrored bool
}

func (a *CSR) Entries() int { return len(a.Column) }

func (a *CSR) Degrees() []int {
	d := make([]int, a.Rows)
	for i := range d {
		d[i] = a.Start[i+1] - a.Start[i]
	}
	return d
}

// Validate names the first thing wrong with the arrays.
func (a *CSR) Validate() error {
	switch {
	case a.Rows < 0 || a.Columns < 0 || a.Rows > math.MaxInt32 || a.Columns > math.MaxInt32:
		return fmt.Errorf("sparse matrix: %d x %d, but rows and columns must be no fewer than 0 and fit 31 bits",
			a.Rows, a.Columns)
	case len(a.Start) != a.Rows+1 || a.Start[0] != 0 || a.Start[a.Rows] != len(a.Column) || !slices.IsSorted(a.Start):
		return fmt.Errorf("sparse matrix: Start must be %d ascending numbers from 0 to the number of entries, %d",
			a.Rows+1, len(a.Column))
	case len(a.Weight) != len(a.Column):
		return fmt.Errorf("sparse matrix: %d weights for %d entries", len(a.Weight), len(a.Column))
	case a.Edge != nil && len(a.Edge) != len(a.Column):
		return fmt.Errorf("sparse matrix: the edges' numbers are %d for %d entries", len(a.Edge), len(a.Column))
	}
	for i := range a.Rows {
		row := a.Column[a.Start[i]:a.Start[i+1]]
		for k, j := range row {
			if j < 0 || int(j) >= a.Columns {
				return fmt.Errorf("sparse matrix: row %d refers to column %d, outside 0 to %d", i, j, a.Columns-1)
			}
			if k > 0 && row[k-1] > j {
				return fmt.Errorf("sparse matrix: row %d has column %d after %d, but columns must ascend",
					i, j, row[k-1])
			}
		}
	}
	return nil
}

// Symmetric tells whether the matrix equals its transpose, weights included.
func (a *CSR) Symmetric() bool {
	if a.Rows != a.Columns {
		return false
	}
	if a.mirrored && uniform(a.Weight) {
		return true
	}
	t := a.Transpose()
	return slices.Equal(a.Start, t.Start) && slices.Equal(a.Column, t.Column) && slices.Equal(a.Weight, t.Weight)
}

func uniform(weights []float32) bool {
	for _, w := range weights {
		if w != weights[0] {
			return false
		}
	}
	return true
}

// Transpose is A^T, the matrix of the reversed edges.
func (a *CSR) Transpose() *CSR {
	t, from := a.transposed()
	for k, e := range from {
		t.Weight[k] = a.Weight[e]
		if a.Edge != nil {
			t.Edge = append(t.Edge, a.Edge[e])
		}
	}
	return t
}

// transposed returns A^T without its weights. For entry k of A^T, from[k] is the number of the same entry in A. The
// entries are sorted by counting, which is ten times faster than sorting by comparison, for ten million edges.
func (a *CSR) transposed() (t *CSR, from []int32) {
	t = &CSR{Rows: a.Columns, Columns: a.Rows, Start: make([]int, a.Columns+1), Column: make([]int32, a.Entries()),
		Weight: make([]float32, a.Entries()), mirrored: a.mirrored}
	from = make([]int32, a.Entries())
	for _, j := range a.Column {
		t.Start[j+1]++
	}
	for j := range a.Columns {
		t.Start[j+1] += t.Start[j]
	}
	next := slices.Clone(t.Start)
	for i := range a.Rows {
		for e := a.Start[i]; e < a.Start[i+1]; e++ {
			k := next[a.Column[e]]
			next[a.Column[e]]++
			t.Column[k], from[k] = int32(i), int32(e)
		}
	}
	return t, from
}

// byLength lists the rows by ascending length, those of equal length in the order o.
func (a *CSR) byLength(o Order) Order {
	sorted := slices.Clone(o)
	slices.SortStableFunc(sorted, func(i, j int32) int {
		return (a.Start[i+1] - a.Start[i]) - (a.Start[j+1] - a.Start[j])
	})
	return sorted
}
