package sparse

import (
	"math"
	"slices"
)

// Layout says how the sums of a matrix's rows are cut.
type Layout struct {
	// longest is the longest sum that one fused loop adds up; longer rows are cut into chunks of about equal
	// length. XLA CPU stops vectorising fusions of some 200 terms.
	longest int
	// most is the largest number of buckets of a level, unless more of them are much cheaper.
	most int
}

// Constant is the layout for constant weights, and Computed that for weights that a model computes, such as
// attention's.
//
// For products with SymNorm, sums of 32 terms were the fastest of 16 … 128 on Tolokers and Squirrel. A program with
// attention contains every sum many times: with sums of 16 terms, GAT on Squirrel and Chameleon and GRAND on Tolokers
// compile in a third less time, and run up to a tenth slower. With computed weights, one kernel for all buckets is
// also expensive to compile: GRAND on Chameleon took 7.3 instead of 4.6 s and 820 instead of 480 MB, and was no
// faster.
var (
	Constant = Layout{longest: 32, most: fused}
	Computed = Layout{longest: 16, most: math.MaxInt}
	// once is for products outside loops, which run so briefly that their compile time matters more.
	once = Layout{longest: 16, most: 3}
)

// sliced is a sparse matrix as sliced rows. Rows are ordered by length, and consecutive rows of similar length form a
// bucket, stored column by column and padded to its longest row with entries of weight zero. Rows longer than the
// layout allows are cut into chunks. The next level adds up the chunks' sums, again in chunks where a row has too
// many.
//
// A place is where an entry or padding is stored. All arrays of places are in the order of the first level's buckets.
type sliced struct {
	// rows are by ascending length, with the copies of a node side by side; order lists each node once.
	rows, columns int
	order         Order
	*level
	// For each place: column is the position of its column, weight its weight, and entry the entry's number in the
	// matrix, or -1 for padding.
	column, entry []int32
	weight        []float32
	// For each place of the levels above the first: chunk is the chunk that it adds, and chunkWeight is 1, or 0 for
	// padding.
	chunk       []int32
	chunkWeight []float32
	// owner is, for each chunk of the first level, the row that it is part of.
	owner []int32
}

// row is a sum of terms weight[k] * x[index[k]]: the matrix's entries from number first on.
type row struct {
	index  []int32
	weight []float32
	first  int
}

// slice lays out a matrix whose columns are at the given positions, with each node in several copies, side by side:
// row k of node i has the columns k of i's neighbours. Rows of equal length stay in the order rows.
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

// fill makes the arrays of a level and of those above it; rows are ordered by length.
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

// pack appends a bucket's places, term by term.
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

// cut splits long rows into chunks, ordered by length; sums are the rows of the next level, which add the chunks up.
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

// runsOf counts rows, ordered by length, as runs of equal length.
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
