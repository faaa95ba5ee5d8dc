package sparse

import (
	"maps"
	"slices"
)

// level is one level of the computation of sums (see the package's documentation). Its short rows are summed directly.
// Its long rows are cut into chunks, and the chunks are summed. The next level adds up the chunks' sums.
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
