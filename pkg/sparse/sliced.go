package sparse

import (
	"math"
	"slices"
)

// Layout says how rows are cut into chunks and divided into buckets; see the package's documentation.
type Layout struct {
	// longest is the largest number of terms of a sum. Rows with more entries than this are cut into chunks of about
	// equal length. Sums must not be too long: on CPUs, XLA does not vectorise a loop that adds up some 200 terms or
	// more.
	longest int
	// most limits two counts. One is the number of buckets for the short rows of all levels together. The other is the
	// number of buckets for the chunks of one level. These counts may exceed the limit if fewer buckets would cost much
	// more time; see [split].
	most int
}

// Constant is the layout for weights that are known beforehand. Computed is the layout for weights that a model
// computes, such as those of attention.
//
// Constant has sums of up to 32 terms. For products with the matrix of [SymNorm], this limit was the fastest of those
// tried, from 16 to 128, on the datasets Tolokers and Squirrel. Computed has sums of up to 16 terms, since shorter sums
// compile faster. The compile time matters more for attention, since the program contains every sum many times. With 16
// instead of 32 terms, models with attention compile in a third less time, and run up to a tenth slower. (We measured
// GAT on Squirrel and on Chameleon, and GRAND on Tolokers.)
//
// Computed does not limit the number of buckets. With a limit, there are few buckets, and XLA puts all of them into one
// kernel (see [fused]). For weights that a model computes, this kernel takes long to compile, and the program is no
// faster. For GRAND on Chameleon, compiling took 7.3 s and 820 MB with the limit, and 4.6 s and 480 MB without it.
var (
	Constant = Layout{longest: 32, most: fused}
	Computed = Layout{longest: 16, most: math.MaxInt}
	// once is the layout for products that a program computes only once, outside loops. For these products, the compile
	// time matters more than the running time.
	once = Layout{longest: 16, most: 3}
)

// sliced is a sparse matrix in the form in which the engine computes with it. Arrays of the first level list places
// bucket by bucket, and in a bucket the first entry of every row, then the second of every row, and so on. Padding has
// weight 0.
type sliced struct {
	// rows is the number of rows, and columns is the number of columns. If nodes have several copies, each copy has a
	// row and a column of its own. order lists the nodes by ascending length of their rows. It lists each node once,
	// even if the node has several copies. The rows are stored in this order, and the copies of a node are next to each
	// other.
	rows, columns int
	order         Order
	*level
	// These three arrays have one value for each place of the first level. column says in which column the place's
	// entry is: it is the position of this column in the model's order of the columns, in which each copy of a node has
	// its own position. weight is the entry's weight. entry is the entry's number in the [CSR] matrix. At places of
	// padding, column and weight are 0, and entry is -1.
	column, entry []int32
	weight        []float32
	// These two arrays have one value for each place of the second and later levels. There, a place holds the sum of a
	// chunk of the level before, or padding. For a sum, chunk is the number of the chunk, and chunkWeight is 1. For
	// padding, both are 0.
	chunk       []int32
	chunkWeight []float32
	// owner[c] is the number of the row that chunk c of the first level is a part of. Rows are numbered in the order by
	// length.
	owner []int32
}

// row is the sum of weight[k] x[index[k]] over k. On the first level, x[i] is row i of the dense matrix, and term k is
// entry first+k of the [CSR]; on later levels, x[i] is the sum of chunk i of the level before.
type row struct {
	index  []int32
	weight []float32
	first  int
}

// slice lays out a. columns[j] is the position of node j in the model's order. Copy k of node i sums over the copies k
// of i's neighbours. Rows are sorted by length, those of equal length in the order of rows.
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

// fill makes the arrays of level l, from its rows by length, and of all later levels.
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

// pack appends the terms of the bucket's rows, with padding, to the three arrays.
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

// cut cuts long rows into chunks, by length; sums are the rows of the next level, which add up chunks.
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

// rowOf is, for each place, its row in the order by length.
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
