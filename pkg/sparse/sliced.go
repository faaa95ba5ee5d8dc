package sparse

import (
	"math"
	"slices"
)

// Layout says how the sums of a matrix's rows are cut into chunks and buckets; see [sliced].
type Layout struct {
	// longest is the largest number of entries in a sum. Rows with more entries are cut into chunks of about equal
	// length. The limit is needed since XLA CPU does not vectorise loops that add up some 200 terms or more.
	longest int
	// most is the largest number of buckets of a level. There are more only if they cost much less; see [split].
	most int
}

// Constant is the layout for constant weights, and Computed the layout for weights that a model computes, such as those
// of attention.
//
// For products with SymNorm, sums of 32 terms were the fastest among 16 to 128 terms on Tolokers and Squirrel. A
// program with attention contains every sum many times, so that compile time matters more there: with sums of 16
// instead of 32 terms, GAT on Squirrel and Chameleon and GRAND on Tolokers compile in a third less time, and run up to
// a tenth slower. Computed has no limit on the number of buckets. With the limit XLA puts all buckets into one kernel,
// which is expensive to compile if weights are computed: GRAND on Chameleon took 7.3 instead of 4.6 s and 820 instead
// of 480 MB, and was no faster.
var (
	Constant = Layout{longest: 32, most: fused}
	Computed = Layout{longest: 16, most: math.MaxInt}
	// once is the layout for products outside loops. They run so briefly that their compile time matters more.
	once = Layout{longest: 16, most: 3}
)

// sliced is a sparse matrix in the form in which the engine computes with it. Rows are ordered by length, which is
// their number of entries. Consecutive rows of similar length form a bucket, and are padded to the length of the
// longest of them by entries of weight zero. A bucket is stored term by term: first the first entries of all its rows,
// then their second entries, and so on.
//
// Rows that are longer than the layout allows are cut into chunks, which form buckets of their own. All these buckets
// make up the first level; see [level]. The second level adds up the sums of each row's chunks. If a row has too many
// chunks, they are grouped into chunks again, and the third level adds these up, and so on.
//
// A place holds one entry or one piece of padding. All arrays with a value for each place are in the order of the first
// level's buckets.
type sliced struct {
	// rows and columns are the numbers of rows and columns, copies of nodes included. order lists the nodes by
	// ascending length of their rows, each once. The rows are in this order, with the copies of a node side by side.
	rows, columns int
	order         Order
	*level
	// Each of these three arrays has one value for each place, which describes the matrix entry that the place holds.
	// column is the entry's column, as a position in the model's order of the columns, copies included. weight is the
	// entry's weight. entry is the entry's number in the matrix. For padding, column and weight are 0, and entry is -1.
	column, entry []int32
	weight        []float32
	// Each of these two arrays has one value for each place of the levels above the first. Such a place adds the sum of
	// a chunk of the level below. chunk is the number of this chunk. chunkWeight is 1. For padding, both are 0.
	chunk       []int32
	chunkWeight []float32
	// owner is, for each chunk of the first level, the row that it is part of.
	owner []int32
}

// row is a sum of terms weight[k] * x[index[k]]. On the first level, term k is entry first+k of the matrix.
type row struct {
	index  []int32
	weight []float32
	first  int
}

// slice makes the sliced form of a matrix whose columns are at the given positions. Each node has several copies, which
// are side by side: copy k of node i sums over the copies k of i's neighbours. Rows of equal length stay in the order
// rows.
func slice(a *CSR, copies int, rows Order, columns []int32, layout Layout) *sliced {
	s := &sliced{rows: a.Rows * copies, columns: a.Columns * copies, order: a.byLength(rows)}
	list := make([]row, 0, s.rows)
	index := make([]int32, 0, a.Entries()*copies)
	for _, v := range s.order {
		from, to := a.Start[v], a.Start[v+1]
		for k := range copies {
			at := len(index)
			for _, j := range a.Column[from:to] {
				index = append(index, columns[j]*int32(copies)+int32(k))
			}
			list = append(list, row{index[at:len(index):len(index)], a.Weight[from:to], from})
		}
	}
	s.level = layout.level(runsOf(list), a.Entries()*copies)
	s.fill(s.level, list, true)
	return s
}

// fill makes the arrays of a level and of the levels above it. rows are the level's rows, ordered by length. first says
// whether the level is the first one.
func (s *sliced) fill(l *level, rows []row, first bool) {
	var sums []row
	if l.next != nil {
		chunks, above := l.cut(rows[l.short:])
		rows, sums = append(slices.Clone(rows[:l.short]), chunks...), above
	}
	at := 0
	for i := range l.buckets {
		b := &l.buckets[i]
		if first {
			b.from = len(s.column)
			s.column, s.weight, s.entry = b.pack(s.column, s.weight, s.entry, rows[at:at+b.rows])
		} else {
			b.from = len(s.chunk)
			s.chunk, s.chunkWeight, _ = b.pack(s.chunk, s.chunkWeight, nil, rows[at:at+b.rows])
		}
		at += b.rows
	}
	if l.next == nil {
		return
	}
	if first {
		s.owner = make([]int32, len(rows)-l.short)
		for i, r := range sums {
			for _, c := range r.index {
				s.owner[c] = int32(l.short + i)
			}
		}
	}
	s.fill(l.next, sums, false)
}

// pack appends the places of a bucket to the three arrays, term by term, and returns the longer arrays.
func (b bucket) pack(column []int32, weight []float32, entry []int32, rows []row) ([]int32, []float32, []int32) {
	for k := range b.terms {
		for _, r := range rows {
			if k < len(r.index) {
				column, weight = append(column, r.index[k]), append(weight, r.weight[k])
				entry = append(entry, int32(r.first+k))
			} else {
				column, weight, entry = append(column, 0), append(weight, 0), append(entry, -1)
			}
		}
	}
	return column, weight, entry
}

// cut splits long rows into chunks, and returns the chunks ordered by length. sums are the rows of the next level: each
// adds up the chunks of one long row.
func (l *level) cut(long []row) (chunks, sums []row) {
	type part struct{ of, number int }
	var parts []part
	for of, r := range long {
		n := len(r.index)
		pieces := l.pieces(n)
		for number := range pieces {
			from, to := number*n/pieces, (number+1)*n/pieces
			chunks = append(chunks, row{r.index[from:to], r.weight[from:to], r.first + from})
			parts = append(parts, part{of, number})
		}
		sums = append(sums, row{index: make([]int32, pieces), weight: ones(pieces)})
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

// runsOf groups rows, which are ordered by length, into runs of equal length.
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

// rowOf is the number of each place's row.
func (s *sliced) rowOf() []int32 {
	out := make([]int32, 0, len(s.column))
	at := 0
	for _, b := range s.buckets {
		for range b.terms {
			for r := at; r < at+b.rows; r++ {
				if r < s.short {
					out = append(out, int32(r))
				} else {
					out = append(out, s.owner[r-s.short])
				}
			}
		}
		at += b.rows
	}
	return out
}
