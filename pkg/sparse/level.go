package sparse

import (
	"maps"
	"slices"
)

// level sums rows of entries: short rows directly, and long rows in chunks, whose sums the level next adds up.
type level struct {
	buckets []bucket // first those of the short rows, then those of the chunks
	whole   int      // number of buckets of short rows
	short   int      // number of short rows: those that are not cut
	longest int      // the most entries of a row that is not cut
	next    *level
}

// bucket is a block of rows of up to terms entries, stored from the place from on, term by term.
type bucket struct{ rows, terms, from int }

// pieces is the number of chunks that a row of this length is cut into.
func (l *level) pieces(length int) int { return (length + l.longest - 1) / l.longest }

// level plans the buckets for rows by ascending length, of a matrix of so many entries.
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

// parts is the number of buckets that assemble joins into the level's rows.
func (l *level) parts() int {
	if l.next == nil {
		return l.whole
	}
	return l.whole + l.next.parts()
}
