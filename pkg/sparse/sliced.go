package sparse

import (
	"math"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/tensors"
)

// name is that of an array that is passed to the program.
type name string

const (
	column      name = "column"         // for each place, the column of its entry
	columnAgain name = "column, again"  // the same numbers as column, for a second product; see [BareEdges.Products]
	node        name = "node"           // for each place, the node of which the column is a copy
	rowOf       name = "row"            // for each place, its row
	weight      name = "weight"         // for each place, the weight; in patterns, 1 for entries and 0 for padding
	chunk       name = "chunk"          // for each place of the second and later levels, the chunk whose sum it holds
	chunkWeight name = "chunk weight"   // for each place of the second and later levels, 1 for a chunk, 0 for padding
	owner       name = "owner"          // for each chunk of the first level, its row
	mirror      name = "mirror"         // for each place of the transpose, the pattern's place with the same entry
	diagonal    name = "diagonal"       // for each place, 1 if its entry is on the diagonal, else 0
	toOrder     name = "rows in order"  // for each row in the model's order, its position in the order by length
	fromOrder   name = "rows by length" // for each row in the order by length, its position in the model's order
)

// arrays are tensors, which stay in memory, so that only those that are needed are made, and their names.
type arrays struct {
	names   []name
	tensors []*tensors.Tensor
}

// add adds an array [number of values, 1], unless it is empty.
func add[T int32 | float32](a *arrays, n name, values []T) {
	if len(values) > 0 {
		a.names = append(a.names, n)
		a.tensors = append(a.tensors, tensors.FromFlatDataAndDimensions(values, len(values), 1))
	}
}

// Layout says for which kind of engine sums are laid out; the zero value is for CPUs, and fits every engine.
type Layout int

const (
	ForCPU Layout = iota
	ForGPU
)

// LayoutFor is the layout for a backend of GoMLX.
func LayoutFor(backend compute.Backend) Layout {
	if b, ok := backend.(interface{ IsCUDA() bool }); ok && b.IsCUDA() {
		return ForGPU
	}
	return ForCPU
}

// plan says how rows are cut into chunks and divided into buckets; see the package's documentation.
type plan struct {
	// longest is the most terms of a sum: on CPUs, XLA does not vectorise loops that add up some 200 terms or more.
	// Longer rows are cut into chunks.
	longest int
	// most limits the buckets of the short rows of all levels, and those of the chunks of one level, unless fewer would
	// cost much more time; see [cost.split].
	most int
	cost
	gpu bool
}

// The costs of buckets. An H100 reads 20,000 rows of 64 numbers in 1.5 µs, at the 3.35 TB/s of its description; to
// start another kernel takes no less. A sum of 32 terms that is folded by halves is soon compiled.
var (
	onCPU = cost{kernel: 100, term: 5, share: 3e-4}
	onGPU = cost{kernel: 20_000}
)

// constant is the plan for weights that are known beforehand: of sums up to 16 to 128 terms, 32 were the fastest for
// products with [SymNorm]'s matrix on Tolokers and Squirrel.
//
// computed is that for weights that a model computes, as in attention, whose programs contain every sum many times:
// with 16 terms, they compile in a third less time, and run up to a tenth slower (GAT on Squirrel and on Chameleon,
// GRAND on Tolokers). With few buckets, XLA puts them into one kernel ([fused]), which takes long to compile and is no
// faster: GRAND on Chameleon took 7.3 s and 820 MB, and 4.6 s and 480 MB without the limit.
//
// once is the plan for products outside loops, where the compile time matters more.
func (l Layout) constant() plan { return l.plan(plan{longest: 32, most: fused}) }
func (l Layout) computed() plan { return l.plan(plan{longest: 16, most: math.MaxInt}) }
func (l Layout) once() plan     { return l.plan(plan{longest: 16, most: 3}) }

func (l Layout) plan(cpu plan) plan {
	if l == ForCPU {
		cpu.cost = onCPU
		return cpu
	}
	return plan{longest: 32, most: math.MaxInt, cost: onGPU, gpu: true}
}

// sliced is a sparse matrix as the engine computes with it. Arrays of the first level list places bucket by bucket, and
// in a bucket the first entry of every row, then the second, and so on.
type sliced struct {
	// Each copy of a node has a row and a column. order lists the nodes by ascending length; rows are stored in this
	// order, with the copies of a node side by side.
	rows, columns int
	order         Order
	gpu           bool
	*level
	// For each place of the first level: the column of its entry, as a position in the model's order (0 for padding),
	// the entry's number in the [CSR] (-1), and its weight (0).
	column, entry []int32
	weight        []float32
	// For each place of later levels: the chunk of the level before whose sum it has, and 1; both are 0 for padding.
	chunk       []int32
	chunkWeight []float32
	// owner[c] is the row, by length, that chunk c of the first level is a part of.
	owner []int32
	arrays
}

// row is the sum of weight[k] x[index[k]] over k. On the first level, x[i] is row i of the dense matrix, and term k
// entry first+k of the [CSR]; on later levels, x[i] is the sum of chunk i of the level before.
type row struct {
	index  []int32
	weight []float32
	first  int
}

// slice lays out a, with the arrays that a [Matrix] and a [Pattern] have in common. rows and columns are the model's
// orders. Rows of equal length are in the order of rows. padded says that a matrix without entries gets places.
func slice(a *CSR, copies int, rows, columns Order, layout plan, padded bool) *sliced {
	s := &sliced{gpu: layout.gpu, rows: a.Rows * copies, columns: a.Columns * copies, order: a.byLength(rows)}
	list := make([]row, 0, s.rows)
	index, position := make([]int32, 0, a.Entries()*copies), columns.positions()
	for _, v := range s.order {
		from, to := a.Start[v], a.Start[v+1]
		for k := range copies {
			at := len(index)
			for _, j := range a.Column[from:to] {
				index = append(index, position[j]*int32(copies)+int32(k))
			}
			list = append(list, row{index[at:len(index):len(index)], a.Weight[from:to], from})
		}
	}
	runs := runsOf(list)
	if a.Entries() == 0 && padded { // a place of padding in each row, for which values are computed
		runs = []run{{1, len(list)}}
	}
	s.level = layout.level(runs, a.Entries()*copies)
	s.fill(s.level, list, true)
	add(&s.arrays, column, s.column)
	add(&s.arrays, chunk, s.chunk)
	add(&s.arrays, chunkWeight, s.chunkWeight)
	add(&s.arrays, weight, s.weight)
	if !slices.Equal(rows, s.order) {
		add(&s.arrays, toOrder, copied(rowsIn(s.order, rows), copies))
	}
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
