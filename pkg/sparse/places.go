package sparse

import (
	"maps"
	"math"
	"slices"

	"github.com/revgnn/revgnn/pkg/graphs"
)

// Places counts what the layout of a graph's adjacency with self loops stores, without making it: places for entries, padding
// included, and the terms that its sums have in all, to which the compiled program grows. The layout is that
// of [SymNorm], or with attention set that of [Neighbourhoods] and [SelfLoops].
func Places(g *graphs.Graph, attention bool) (places, terms int) {
	most := fused
	if attention {
		most = math.MaxInt
	}
	rows, entries := map[int]int{}, 0
	for _, d := range g.Degrees() {
		rows[d+1]++
		entries += d + 1
	}
	places, terms, _ = stored(rows, entries, most)
	return places, terms
}

// stored counts what a level and those below store, for rows by their lengths, and the buckets that make up its rows; see
// [Matrix.build].
func stored(rows map[int]int, entries, most int) (places, terms, parts int) {
	var short, long []run
	chunks, sums := map[int]int{}, map[int]int{}
	for _, length := range slices.Sorted(maps.Keys(rows)) {
		count := rows[length]
		if length <= maxTerms {
			short = append(short, run{length, count})
			continue
		}
		pieces := (length + maxTerms - 1) / maxTerms // as in cut
		chunks[length/pieces] += count * (pieces - length%pieces)
		if more := length % pieces; more > 0 {
			chunks[length/pieces+1] += count * more
		}
		sums[pieces] += count
	}
	if len(sums) > 0 {
		places, terms, parts = stored(sums, entries, most)
	}
	for _, length := range slices.Sorted(maps.Keys(chunks)) {
		long = append(long, run{length, chunks[length]})
	}
	buckets := split(short, entries, most-parts)
	for _, b := range append(buckets, splitChunks(long, entries, most)...) {
		places += b.rows * b.terms
		terms += b.terms
	}
	return places, terms, parts + len(buckets)
}
