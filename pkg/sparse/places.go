package sparse

import (
	"maps"
	"slices"

	"github.com/revgnn/revgnn/pkg/graphs"
)

// Places counts what the layout of a graph's adjacency with self loops stores, without making it: places for entries, padding
// included, and the terms that its sums have in all, to which the compiled program grows. [SymNorm] is laid out as [Constant],
// [Neighbourhoods] and [SelfLoops] as [Computed].
func Places(g *graphs.Graph, layout Layout) (places, terms int) {
	rows, entries := map[int]int{}, 0
	for _, d := range g.Degrees() {
		rows[d+1]++
		entries += d + 1
	}
	places, terms, _ = stored(rows, entries, layout)
	return places, terms
}

// stored counts what a level and those below store, for rows by their lengths, and the buckets that make up its rows; see
// [Matrix.build].
func stored(rows map[int]int, entries int, layout Layout) (places, terms, parts int) {
	var short, long []run
	chunks, sums := map[int]int{}, map[int]int{}
	for _, length := range slices.Sorted(maps.Keys(rows)) {
		count := rows[length]
		if length <= layout.longest {
			short = append(short, run{length, count})
			continue
		}
		pieces := (length + layout.longest - 1) / layout.longest // as in cut
		chunks[length/pieces] += count * (pieces - length%pieces)
		if more := length % pieces; more > 0 {
			chunks[length/pieces+1] += count * more
		}
		sums[pieces] += count
	}
	if len(sums) > 0 {
		places, terms, parts = stored(sums, entries, layout)
	}
	for _, length := range slices.Sorted(maps.Keys(chunks)) {
		long = append(long, run{length, chunks[length]})
	}
	buckets := split(short, entries, layout.most-parts)
	for _, b := range append(buckets, splitChunks(long, entries, layout.most)...) {
		places += b.rows * b.terms
		terms += b.terms
	}
	return places, terms, parts + len(buckets)
}
