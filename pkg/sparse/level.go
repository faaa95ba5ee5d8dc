package sparse

import (
	"maps"
	"slices"
)

// level describes how rows of entries are summed. Short rows are summed directly. Long rows are cut into chunks, the
// chunks are summed, and the next level adds up the chunks' sums.
type level struct {
	buckets []bucket // first those of the short rows, then those of the chunks
	whole   int      // number of buckets of short rows
	short   int      // number of short rows: those that are not cut
	longest int      // largest number of entries of a row that is not cut
	next    *level   // nil if no row is cut
}

// bucket is a number of consecutive rows with at most terms entries each. Its first place is from, and it is stored
// term by term; see [sliced].
type bucket struct{ rows, terms, from int }

// pieces is the number of chunks into which a row of the given length is cut.
func (l *level) pieces(length int) int { return (length + l.longest - 1) / l.longest }

// level chooses the buckets for rows that are sorted by ascending length. entries is the number of entries of the whole
// matrix.
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

// ascending turns counts of rows by their length into runs of ascending length.
func ascending(rows map[int]int) (runs []run) {
	for _, length := range slices.Sorted(maps.Keys(rows)) {
		runs = append(runs, run{length, rows[length]})
	}
	return runs
}

// parts is the number of arrays that [level.assemble] joins into one array with the sums of the level's rows. There is
// one array for each bucket of short rows, on this level and on all levels above it.
func (l *level) parts() int {
	if l.next == nil {
		return l.whole
	}
	return l.whole + l.next.parts()
}
