package sparse

import (
	"maps"
	"slices"

	"github.com/revgnn/revgnn/pkg/graphs"
)

// Places counts what the layout of a graph's adjacency with self loops stores, without making it: places for entries, padding
// included, and the terms that its sums have in all, to which the compiled program grows. [SymNorm], [Neighbourhoods] and
// [SelfLoops] have the same.
func Places(g *graphs.Graph) (places, terms int) {
	rows, entries := map[int]int{}, 0
	for _, d := range g.Degrees() {
		rows[d+1]++
		entries += d + 1
	}
	short, chunks, sums := []run(nil), map[int]int{}, []run(nil)
	for _, length := range slices.Sorted(maps.Keys(rows)) {
		count := rows[length]
		if length <= maxTerms {
			short = append(short, run{length, count})
			continue
		}
		// As in cut.
		pieces := (length + maxTerms - 1) / maxTerms
		size := (length + pieces - 1) / pieces
		pieces = (length + size - 1) / size
		chunks[size] += count * (pieces - 1)
		chunks[length-size*(pieces-1)] += count
		sums = append(sums, run{pieces, count})
	}
	var long []run
	for _, length := range slices.Sorted(maps.Keys(chunks)) {
		long = append(long, run{length, chunks[length]})
	}
	for _, level := range [][]run{short, long, sums} {
		p, t := packed(level, entries)
		places, terms = places+p, terms+t
	}
	return places, terms
}

// packed counts the places and terms of the buckets that pack makes.
func packed(runs []run, entries int) (places, terms int) {
	from := 0
	for _, end := range split(runs, entries) {
		last := runs[end-1].length
		for ; from < end; from++ {
			places += runs[from].count * last
		}
		terms += last
	}
	return places, terms
}
