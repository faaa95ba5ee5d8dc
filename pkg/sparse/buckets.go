package sparse

import (
	"maps"
	"slices"
)

// The estimated cost of a bucket, where adding up one entry costs 1, is
//
//	rows * terms + kernelCost + terms * (termCost + termShare * entries of the whole matrix):
//
// adding up entries and padding, starting the kernel, and compiling each term, about the same share for small and large
// graphs.
const (
	kernelCost = 100
	termCost   = 5
	termShare  = 3e-4
)

// XLA CPU computes up to so many buckets in one kernel, which writes the sums directly into the result. To get few
// buckets, [split] raises the cost of a kernel, up to dearest times kernelCost.
const (
	fused   = 8
	dearest = 16
)

// run is a group of count rows with length entries each.
type run struct{ length, count int }

// extent is the size of a bucket.
type extent struct{ rows, terms int }

// split divides rows into the buckets of least total cost and, if these are more than most, raises the cost of a kernel
// step by step until they are few enough.
func split(runs []run, entries, most int) []extent {
	best := cheapest(runs, entries, kernelCost)
	buckets := best
	for cost := 1.25 * kernelCost; len(buckets) > most; cost *= 1.25 {
		if cost > dearest*kernelCost {
			return best
		}
		buckets = cheapest(runs, entries, cost)
	}
	return buckets
}

// cheapest finds the buckets of least total cost by dynamic programming over the runs. start is the cost of a kernel.
func cheapest(runs []run, entries int, start float64) (buckets []extent) {
	perTerm := termCost + termShare*float64(entries)
	// best[i] is the least cost for the runs 0 … i-1, from[i] the first run of the last bucket.
	best, from := make([]float64, len(runs)+1), make([]int, len(runs)+1)
	for i := range runs {
		rows, terms := 0, float64(runs[i].length)
		best[i+1] = -1
		for k := i; k >= 0; k-- {
			rows += runs[k].count
			if cost := best[k] + terms*(float64(rows)+perTerm) + start; best[i+1] < 0 || cost < best[i+1] {
				best[i+1], from[i+1] = cost, k
			}
		}
	}
	for i := len(runs); i > 0; i = from[i] {
		b := extent{terms: runs[i-1].length}
		for _, r := range runs[from[i]:i] {
			b.rows += r.count
		}
		buckets = append([]extent{b}, buckets...)
	}
	return buckets
}

// splitChunks is [split] for chunks, with two buckets at least: XLA would compute the sums of a single one again in
// each operation that reads them, five times slower, but a concatenation only once.
func splitChunks(runs []run, entries, most int) []extent {
	buckets := split(runs, entries, most)
	if len(buckets) != 1 || buckets[0].rows < 2 {
		return buckets
	}
	half, all := buckets[0].rows/2, buckets[0]
	for i, rows := 0, 0; ; i++ {
		if rows += runs[i].count; rows >= half {
			return []extent{{half, runs[i].length}, {all.rows - half, all.terms}}
		}
	}
}

// level is one level of sums: of short rows, and of the chunks of long ones, which the next level adds up.
type level struct {
	buckets []bucket // the buckets of short rows, then the buckets of chunks
	whole   int      // the number of buckets of short rows
	short   int      // the number of short rows, which are the rows that are not cut
	longest int      // the largest number of entries of a row that is not cut
	next    *level   // nil if no row is cut
}

// bucket is a group of rows, padded to terms entries each. Its places begin at from, with the first term of every row.
type bucket struct{ rows, terms, from int }

func (l *level) pieces(length int) int { return (length + l.longest - 1) / l.longest }

// level divides rows, given as runs by ascending length, into buckets, and makes the levels that add up chunks. entries
// is that of the whole matrix.
func (layout Layout) level(rows []run, entries int) *level {
	l := &level{longest: layout.longest}
	var short []run
	chunks, sums := map[int]int{}, map[int]int{}
	for _, r := range rows {
		if r.length <= l.longest {
			short = append(short, r)
			l.short += r.count
			continue
		}
		pieces := l.pieces(r.length)
		chunks[r.length/pieces] += r.count * (pieces - r.length%pieces)
		if more := r.length % pieces; more > 0 {
			chunks[r.length/pieces+1] += r.count * more
		}
		sums[pieces] += r.count
	}
	above := 0
	if len(sums) > 0 {
		l.next = layout.level(ascending(sums), entries)
		above = l.next.parts()
	}
	extents := split(short, entries, layout.most-above)
	l.whole = len(extents)
	for _, e := range append(extents, splitChunks(ascending(chunks), entries, layout.most)...) {
		l.buckets = append(l.buckets, bucket{rows: e.rows, terms: e.terms})
	}
	return l
}

// ascending turns a map from length to number of rows into runs by length.
func ascending(rows map[int]int) (runs []run) {
	for _, length := range slices.Sorted(maps.Keys(rows)) {
		runs = append(runs, run{length, rows[length]})
	}
	return runs
}

// parts is the number of arrays that [level.assemble] concatenates.
func (l *level) parts() int {
	if l.next == nil {
		return l.whole
	}
	return l.whole + l.next.parts()
}
