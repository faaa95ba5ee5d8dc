package sparse

import (
	"maps"
	"slices"
)

// cost estimates that of a bucket, where adding up one entry costs 1, as
//
//	rows * terms + kernel + terms * (term + share * entries of the whole matrix):
//
// adding up entries and padding, starting the kernel, and compiling each term, about the same share for small and large
// graphs.
type cost struct{ kernel, term, share float64 }

// XLA CPU computes up to so many buckets in one kernel, which writes the sums directly into the result. To get few
// buckets, [cost.split] raises the cost of a kernel, up to dearest times.
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
func (c cost) split(runs []run, entries, most int) []extent {
	best, given := c.cheapest(runs, entries), c.kernel
	buckets := best
	for c.kernel *= 1.25; len(buckets) > most; c.kernel *= 1.25 {
		if c.kernel > dearest*given {
			return best
		}
		buckets = c.cheapest(runs, entries)
	}
	return buckets
}

// cheapest finds the buckets of least total cost by dynamic programming over the runs.
func (c cost) cheapest(runs []run, entries int) (buckets []extent) {
	perTerm := c.term + c.share*float64(entries)
	// best[i] is the least cost for the runs 0 … i-1, from[i] the first run of the last bucket.
	best, from := make([]float64, len(runs)+1), make([]int, len(runs)+1)
	for i := range runs {
		rows, terms := 0, float64(runs[i].length)
		best[i+1] = -1
		for k := i; k >= 0; k-- {
			rows += runs[k].count
			if cost := best[k] + terms*(float64(rows)+perTerm) + c.kernel; best[i+1] < 0 || cost < best[i+1] {
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

// splitChunks is split for chunks, on CPUs with two buckets at least: XLA would compute the sums of a single one again
// in each operation that reads them, five times slower, but a concatenation only once.
func (p plan) splitChunks(runs []run, entries int) []extent {
	buckets := p.split(runs, entries, p.most)
	if p.gpu || len(buckets) != 1 || buckets[0].rows < 2 {
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
func (p plan) level(rows []run, entries int) *level {
	l := &level{longest: p.longest}
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
		l.next = p.level(ascending(sums), entries)
		above = l.next.parts()
	}
	extents := p.split(short, entries, p.most-above)
	l.whole = len(extents)
	for _, e := range append(extents, p.splitChunks(ascending(chunks), entries)...) {
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
