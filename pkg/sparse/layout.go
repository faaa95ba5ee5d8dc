package sparse

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
)

// Layout says what the sums of a matrix's rows are cut into.
type Layout struct {
	// longest is the longest sum that one fused loop adds up; longer rows are cut into chunks of about equal length. XLA CPU stops
	// vectorising fusions of some 200 terms.
	longest int
	// most is the number of buckets that a level's rows have at most if that is cheap.
	most int
}

// Constant is the layout for weights that are constants, Computed that for weights that are computed, as attention's.
//
// For products of SymNorm, sums of 32 terms were the fastest of 16 … 128 on tolokers and squirrel. Programs with attention have every
// sum many times: with sums of 16 terms, GAT on Squirrel and Chameleon and GRAND on Tolokers take a third less time to compile, and up to a
// tenth more to run. Weights that are computed also make one kernel of all buckets expensive to compile: GRAND on Chameleon took 7.3
// instead of 4.6 s and 820 instead of 480 MB, and was no faster.
var (
	Constant = Layout{longest: 32, most: fused}
	Computed = Layout{longest: 16, most: math.MaxInt}
	// once is for products outside loops, which take so little time that compiling them counts.
	once = Layout{longest: 16, most: 3}
)

// Order says which node is at each position: arrays on the engine are in the order of the matrix that they are multiplied by.
type Order []int32

// positions are the nodes' places in the order.
func (o Order) positions() []int32 {
	at := make([]int32, len(o))
	for p, v := range o {
		at[v] = int32(p)
	}
	return at
}

// Matrix is a sparse symmetric n x n matrix laid out for [Operator]: "sliced rows".
//
// Rows are ordered by length; neighbouring rows of similar length form a bucket, stored column by column and padded to the
// bucket's longest row with entries of weight zero. Rows longer than the layout allows are cut into chunks, whose
// sums a next level adds up, in chunks again where there are too many.
type Matrix struct {
	n     int
	order Order
	level
	// owner[c] is the position of the long row that chunk number c is part of.
	owner   []int32
	tensors []*tensors.Tensor
	entries int
	layout  Layout
}

// level sums rows of entries: short rows as they are, and the chunks of long ones, from which next makes the sums of these.
type level struct {
	buckets []bucket // of the short rows first, then of the chunks
	short   int      // rows that are not cut
	next    *level
}

// bucket is a block of rows of up to terms entries; its indices and weights are the tensors number at and at+1.
type bucket struct{ rows, terms, at int }

// NewSymmetric lays out the symmetric matrix whose row i has the given weights at the given columns. Symmetry is the
// caller's promise: the derivative of a product with the matrix is taken to be a product with the same matrix.
func NewSymmetric(columns [][]int32, weights [][]float32) (*Matrix, error) {
	return layOut(columns, weights, Constant)
}

func layOut(columns [][]int32, weights [][]float32, layout Layout) (*Matrix, error) {
	m, err := ordered(columns, weights, len(columns), layout)
	if err != nil {
		return nil, err
	}
	position := m.order.positions()
	m.lay(columns, weights, func(j int32) int32 { return position[j] })
	return m, nil
}

// ordered checks rows of entries in so many columns, and orders them by length.
func ordered(columns [][]int32, weights [][]float32, width int, layout Layout) (*Matrix, error) {
	n := len(columns)
	if len(weights) != n {
		return nil, fmt.Errorf("sparse matrix: %d rows of columns but %d rows of weights", n, len(weights))
	}
	m := &Matrix{n: n, order: make(Order, n), layout: layout}
	for i := range m.order {
		m.order[i] = int32(i)
		if len(columns[i]) != len(weights[i]) {
			return nil, fmt.Errorf("sparse matrix: row %d has %d columns but %d weights", i, len(columns[i]), len(weights[i]))
		}
		for _, j := range columns[i] {
			if j < 0 || int(j) >= width {
				return nil, fmt.Errorf("sparse matrix: row %d refers to column %d, outside 0 to %d", i, j, width-1)
			}
		}
		m.entries += len(columns[i])
	}
	slices.SortStableFunc(m.order, func(a, b int32) int { return len(columns[a]) - len(columns[b]) })
	return m, nil
}

// lay makes the arrays of rows in the matrix's order; index is the row of the other factor that a column stands for.
func (m *Matrix) lay(columns [][]int32, weights [][]float32, index func(column int32) int32) {
	rows := make([]row, m.n)
	for p, v := range m.order {
		r := row{make([]int32, len(columns[v])), weights[v]}
		for k, j := range columns[v] {
			r.index[k] = index(j)
		}
		rows[p] = r
	}
	var sums []row
	m.level, sums = m.build(rows)
	for i, r := range sums {
		for _, p := range r.index {
			m.owner[p] = int32(m.short + i)
		}
	}
}

// build lays out rows that are ordered by length, and returns the rows of the next level, which add up the chunks.
func (m *Matrix) build(rows []row) (l level, sums []row) {
	for l.short < len(rows) && len(rows[l.short].index) <= m.layout.longest {
		l.short++
	}
	short := runsOf(rows[:l.short])
	if l.short == len(rows) {
		l.buckets = m.pack(rows, split(short, m.entries, m.layout.most))
		return l, nil
	}
	chunks, sums := cut(rows[l.short:], m.layout.longest)
	if m.owner == nil {
		m.owner = make([]int32, len(chunks))
	}
	next, _ := m.build(sums)
	l.next = &next
	l.buckets = append(m.pack(rows[:l.short], split(short, m.entries, m.layout.most-next.parts())), m.pack(chunks, splitChunks(runsOf(chunks), m.entries, m.layout.most))...)
	return l, sums
}

// parts is the number of buckets whose rows make up those of the level.
func (l *level) parts() (count int) {
	for rows := 0; rows < l.short; count++ {
		rows += l.buckets[count].rows
	}
	if l.next != nil {
		count += l.next.parts()
	}
	return count
}

// assemble makes the rows of a level from those of its buckets; sum gives the rows of a bucket of a level below, out of the
// level above's chunks.
func (l *level) assemble(parts []*graph.Node, sum func(b bucket, chunks *graph.Node) *graph.Node) *graph.Node {
	if l.next == nil {
		return concatenate(parts)
	}
	whole := l.parts() - l.next.parts()
	// The chunks are joined on their own. A concatenation of all parts, read by the next level and sliced for the short rows,
	// XLA may split in two, whose gathers then have two uses, fuse into neither and fill memory (nine times slower).
	chunks := concatenate(parts[whole:])
	var sums []*graph.Node
	for _, b := range l.next.buckets {
		sums = append(sums, sum(b, chunks))
	}
	return concatenate(append(parts[:whole:whole], l.next.assemble(sums, sum)))
}

// row is a list of terms weight[k] * x[index[k]].
type row struct {
	index  []int32
	weight []float32
}

// cut splits long rows into chunks of up to longest entries, ordered by length, and returns beside them the rows that add the chunks
// up again.
func cut(long []row, longest int) (chunks, sums []row) {
	type part struct{ of, number int }
	var parts []part
	for of, r := range long {
		n := len(r.index)
		pieces := (n + longest - 1) / longest
		for number := range pieces {
			from, to := number*n/pieces, (number+1)*n/pieces
			chunks = append(chunks, row{r.index[from:to], r.weight[from:to]})
			parts = append(parts, part{of, number})
		}
		sums = append(sums, row{make([]int32, pieces), slices.Repeat([]float32{1}, pieces)})
	}
	by := make([]int, len(chunks))
	for i := range by {
		by[i] = i
	}
	slices.SortStableFunc(by, func(a, b int) int { return len(chunks[a].index) - len(chunks[b].index) })
	ordered := make([]row, len(chunks))
	for p, c := range by {
		ordered[p] = chunks[c]
		sums[parts[c].of].index[parts[c].number] = int32(p)
	}
	return ordered, sums
}

// runsOf are the runs of rows that are ordered by length.
func runsOf(rows []row) (runs []run) {
	for _, r := range rows {
		if n := len(runs); n > 0 && runs[n-1].length == len(r.index) {
			runs[n-1].count++
		} else {
			runs = append(runs, run{len(r.index), 1})
		}
	}
	return runs
}

// pack makes the given buckets of rows.
func (m *Matrix) pack(rows []row, extents []extent) (buckets []bucket) {
	from := 0
	for _, e := range extents {
		to, terms := from+e.rows, e.terms
		if terms == 0 {
			buckets = append(buckets, bucket{rows: e.rows})
			from = to
			continue
		}
		index := make([]int32, terms*(to-from))
		weight := make([]float32, terms*(to-from))
		for r, row := range rows[from:to] {
			for k := range row.index {
				index[k*(to-from)+r] = row.index[k]
				weight[k*(to-from)+r] = row.weight[k]
			}
		}
		buckets = append(buckets, bucket{to - from, terms, len(m.tensors)})
		m.tensors = append(m.tensors, tensors.FromFlatDataAndDimensions(index, terms, to-from, 1),
			tensors.FromFlatDataAndDimensions(weight, terms, to-from, 1))
		from = to
	}
	return buckets
}

// Neighbourhoods is the adjacency matrix with self loops, A + I, all entries 1: what attention is a softmax over.
func Neighbourhoods(g *graphs.Graph) (*Matrix, error) { return layOut(copied(closed(g), 1)) }

// closed lists every node's neighbours and itself, in ascending order.
func closed(g *graphs.Graph) [][]int32 {
	columns := g.Neighbours()
	for i, list := range columns {
		at, _ := slices.BinarySearch(list, int32(i))
		columns[i] = slices.Insert(slices.Clone(list), at, int32(i))
	}
	return columns
}

// SymNorm is the adjacency matrix with self loops, symmetrically normalised (Kipf and Welling 2017; paper section 3.3):
//
//	Â = D^-1/2 (A + I) D^-1/2, with D the degrees of A + I.
//
// Its spectral norm is 1. An isolated node keeps its own features: Â_ii = 1.
func SymNorm(g *graphs.Graph) (*Matrix, error) {
	columns := closed(g)
	weights := make([][]float32, len(columns))
	for i, list := range columns {
		weights[i] = make([]float32, len(list))
		for k, j := range list {
			weights[i][k] = float32(1 / math.Sqrt(float64(len(list))*float64(len(columns[j]))))
		}
	}
	return NewSymmetric(columns, weights)
}

// entry is a stored entry of a matrix, by the positions of its row and column, and the place that it is stored at.
type entry struct{ row, column, place int32 }

// places are the entries in the order in which they are stored, with their weights; those of padding are 0.
func (m *Matrix) places() iter.Seq2[entry, float32] {
	return func(yield func(entry, float32) bool) {
		place, first := int32(0), 0
		for _, b := range m.buckets {
			if b.terms > 0 {
				column, weight := tensors.MustCopyFlatData[int32](m.tensors[b.at]), tensors.MustCopyFlatData[float32](m.tensors[b.at+1])
				for k := range column {
					row := int32(first + k%b.rows)
					if int(row) >= m.short {
						row = m.owner[int(row)-m.short]
					}
					if !yield(entry{row, column[k], place}, weight[k]) {
						return
					}
					place++
				}
			}
			first += b.rows
		}
	}
}

// Size is n, and Entries the number of stored entries (2|E| + n for [SymNorm]).
func (m *Matrix) Size() int    { return m.n }
func (m *Matrix) Entries() int { return m.entries }

// Tensors are the index and weight arrays, to be passed to the graph that uses the matrix and handed to [Matrix.On] there.
func (m *Matrix) Tensors() []*tensors.Tensor { return m.tensors }

// Order is the order that the matrix's rows and columns are in.
func (m *Matrix) Order() Order { return m.order }

// Permute brings per-node rows of the given width into an order; Restore undoes it.
func Permute[T any](o Order, rows []T, width int) []T {
	out := make([]T, len(rows))
	for p, v := range o {
		copy(out[p*width:(p+1)*width], rows[int(v)*width:(int(v)+1)*width])
	}
	return out
}

// Restore brings rows back into the graph's order.
func Restore[T any](o Order, rows []T, width int) []T {
	out := make([]T, len(rows))
	for p, v := range o {
		copy(out[int(v)*width:(int(v)+1)*width], rows[p*width:(p+1)*width])
	}
	return out
}
