package sparse

import (
	"maps"
	"slices"
)

// level sums rows of entries: short rows as they are, and the chunks of long ones, from which next makes the sums
// of these.
type level struct {
	buckets []bucket // of the short rows first, then of the chunks
	whole   int      // buckets of short rows
	short   int      // rows that are not cut
	longest int      // entries of a row that is not cut
	next    *level
}

// bucket is a block of rows of up to terms entries, stored from a place on, term by term.
type bucket struct{ rows, terms, from int }

// pieces is the number of chunks of a row.
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

// ascending are runs of rows counted by their lengths.
func ascending(rows map[int]int) (runs []run) {
	for _, length := range slices.Sorted(maps.Keys(rows)) {
		runs = append(runs, run{length, rows[length]})
	}
	return runs
}

// parts is the number of buckets whose rows make up those of the level.
func (l *level) parts() int {
	if l.next == nil {
		return l.whole
	}
	return l.whole + l.next.parts()
}
