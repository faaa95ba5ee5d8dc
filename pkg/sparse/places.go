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
	rows := map[int]int{}
	for _, d := range g.Degrees() {
		rows[d+1]++
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
		p, t := packed(level)
		places, terms = places+p, terms+t
	}
	return places, terms
}

// run is a number of rows of one length.
type run struct{ length, count int }

// packed counts the places and terms of the buckets that pack makes.
func packed(runs []run) (places, terms int) {
	for from := 0; from < len(runs); {
		limit := max(runs[from].length, int(float64(runs[from].length)*growth))
		to, rows := from, 0
		for to < len(runs) && runs[to].length <= limit {
			rows += runs[to].count
			to++
		}
		last := runs[to-1].length
		places, terms = places+rows*last, terms+last
		from = to
	}
	return places, terms
}
