package sparse

// The cost of a bucket, in stored entries: the places of its rows, padded to the longest; starting its kernel, which takes as
// long as some 100 entries; and compiling its terms, which is to weigh the same on graphs of all sizes.
const (
	kernelCost = 100
	termCost   = 5
	termShare  = 3e-4 // of all entries
)

// run is a number of rows of one length.
type run struct{ length, count int }

// split cuts runs of rows, by ascending length, into the buckets of least cost in all, and returns for each the number of the
// run after its last; entries is the number of entries of the whole matrix. (Dynamic programming over the runs.)
func split(runs []run, entries int) (ends []int) {
	perTerm := termCost + termShare*float64(entries)
	// best[i] is the least cost of the runs before i, and from[i] where the last bucket among them begins.
	best, from := make([]float64, len(runs)+1), make([]int, len(runs)+1)
	for i := range runs {
		rows, terms := 0, float64(runs[i].length)
		best[i+1] = -1
		for k := i; k >= 0; k-- {
			rows += runs[k].count
			if cost := best[k] + terms*(float64(rows)+perTerm) + kernelCost; best[i+1] < 0 || cost < best[i+1] {
				best[i+1], from[i+1] = cost, k
			}
		}
	}
	for i := len(runs); i > 0; i = from[i] {
		ends = append([]int{i}, ends...)
	}
	return ends
}
