package sparse

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// CSR is a sparse matrix in main memory ("compressed sparse row"): row i has the entries Start[i] … Start[i+1]-1 by
// ascending column; entry e is in Column[e] and has the weight Weight[e]. In an adjacency, rows are the targets of
// edges.
type CSR struct {
	Rows, Columns int
	Start         []int
	Column        []int32
	Weight        []float32
	// mirrored says that it is known that there is (j, i) for every (i, j), whatever the weights.
	mirrored bool
}

func (a *CSR) Entries() int { return len(a.Column) }

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
	uniform := !slices.ContainsFunc(a.Weight, func(w float32) bool { return w != a.Weight[0] })
	if a.mirrored && uniform {
		return true
	}
	t := a.Transpose()
	return slices.Equal(a.Start, t.Start) && slices.Equal(a.Column, t.Column) && slices.Equal(a.Weight, t.Weight)
}

// Transpose is A^T, the matrix of the reversed edges.
func (a *CSR) Transpose() *CSR {
	t, from := a.transposed()
	for k, e := range from {
		t.Weight[k] = a.Weight[e]
	}
	return t
}

// transposed is A^T without weights; its entry k is entry from[k] of A. Counting sorts ten million edges ten times
// faster than comparing.
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

// Product is A x, without an engine and with sums in double precision, for x of shape [columns, width].
func (a *CSR) Product(x []float32, width int) []float32 {
	out := make([]float32, a.Rows*width)
	a.inParallel(func(rows func() (from, to int)) {
		sum := make([]float64, width)
		for from, to := rows(); from < to; from, to = rows() {
			for i := from; i < to; i++ {
				clear(sum)
				for e := a.Start[i]; e < a.Start[i+1]; e++ {
					w, j := float64(a.Weight[e]), int(a.Column[e])
					for k, v := range x[j*width : (j+1)*width] {
						sum[k] += w * float64(v)
					}
				}
				for k, v := range sum {
					out[i*width+k] = float32(v)
				}
			}
		}
	})
	return out
}

// SecondNeighbours is the adjacency of nodes exactly two steps apart. admit can refuse the number of entries, up to n².
func (a *CSR) SecondNeighbours(admit func(entries int) error) (*CSR, error) {
	if a.Rows != a.Columns {
		return nil, fmt.Errorf("sparse matrix: %d x %d, but only nodes of one graph are two steps apart: "+
			"take a square adjacency", a.Rows, a.Columns)
	}
	s := &CSR{Rows: a.Rows, Columns: a.Columns, Start: make([]int, a.Rows+1), mirrored: a.mirrored}
	a.eachSecond(func(i int, second []int32) { s.Start[i+1] = len(second) })
	for i := range a.Rows {
		s.Start[i+1] += s.Start[i]
	}
	if err := admit(s.Start[a.Rows]); err != nil {
		return nil, err
	}
	s.Column, s.Weight = make([]int32, s.Start[a.Rows]), ones(s.Start[a.Rows])
	a.eachSecond(func(i int, second []int32) {
		slices.Sort(second)
		copy(s.Column[s.Start[i]:], second)
	})
	return s, nil
}

// eachSecond visits every node with those exactly two steps away, on several threads and in any order.
func (a *CSR) eachSecond(visit func(i int, second []int32)) {
	a.inParallel(func(rows func() (from, to int)) {
		seen := make([]int32, a.Rows) // seen[k] is i+1 if node k has been reached from node i
		var second []int32
		for from, to := rows(); from < to; from, to = rows() {
			for i := from; i < to; i++ {
				first := a.Column[a.Start[i]:a.Start[i+1]]
				second, seen[i] = second[:0], int32(i+1)
				for _, j := range first {
					seen[j] = int32(i + 1)
				}
				for _, j := range first {
					for _, k := range a.Column[a.Start[j]:a.Start[j+1]] {
						if seen[k] != int32(i+1) {
							seen[k] = int32(i + 1)
							second = append(second, k)
						}
					}
				}
				visit(i, second)
			}
		}
	})
}

// inParallel calls work on several threads. rows gives out ranges of rows, each once, and an empty one at the end.
func (a *CSR) inParallel(work func(rows func() (from, to int))) {
	const some = 64
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), a.Rows/some+1) {
		all.Go(func() {
			work(func() (from, to int) {
				to = int(next.Add(some))
				return to - some, min(to, a.Rows)
			})
		})
	}
	all.Wait()
}

// Order is an order of nodes: o[p] is the number of the node at position p. All arrays of a model with a row for each
// node are in one order.
type Order []int32

// AsGiven is the order of n nodes by their numbers: 0, 1, …, n-1.
func AsGiven(n int) Order {
	o := make(Order, n)
	for i := range o {
		o[i] = int32(i)
	}
	return o
}

// or is o or, if this is nil, [AsGiven].
func (o Order) or(n int) Order {
	if o == nil {
		return AsGiven(n)
	}
	return o
}

// positions is the inverse.
func (o Order) positions() []int32 {
	at := make([]int32, len(o))
	for p, v := range o {
		at[v] = int32(p)
	}
	return at
}

// check returns an error unless o lists each of the nodes 0 … n-1 once.
func (o Order) check(n int) error {
	if len(o) != n {
		return fmt.Errorf("sparse matrix: an order of %d nodes was given for %d", len(o), n)
	}
	seen := make([]bool, n)
	for p, v := range o {
		if v < 0 || int(v) >= n || seen[v] {
			return fmt.Errorf("sparse matrix: the order has node %d at position %d, "+
				"which is outside 0 to %d or there already", v, p, n-1)
		}
		seen[v] = true
	}
	return nil
}

// Permute brings rows of the given width from the order of the nodes' numbers to o. Restore undoes it.
func Permute[T any](o Order, rows []T, width int) []T {
	out := make([]T, len(rows))
	for p, v := range o {
		copy(out[p*width:(p+1)*width], rows[int(v)*width:(int(v)+1)*width])
	}
	return out
}

func Restore[T any](o Order, rows []T, width int) []T {
	out := make([]T, len(rows))
	for p, v := range o {
		copy(out[int(v)*width:(int(v)+1)*width], rows[p*width:(p+1)*width])
	}
	return out
}
