package sparse

// The cost of a bucket, in units of a stored entry: the places of its rows, padded to the longest; kernelCost for
// starting its kernel; and, for each term of its sum, compile time: termCost, plus the share termShare of the matrix's
// entries, so that compiling weighs the same on graphs of all sizes.
const (
	kernelCost = 100
	termCost   = 5
	termShare  = 3e-4 // of the matrix's entries
)

// XLA CPU computes up to fused buckets in one kernel, which writes them directly to their rows' places. To stay within
// that number, the cost of a kernel's start is raised, up to dearest times, until the cheapest split has few enough
// buckets.
const (
	fused   = 8
	dearest = 16
)

// run is a number of rows of equal length.
type run struct{ length, count int }

// extent is a bucket's number of rows and of terms per row.
type extent struct{ rows, terms int }

// split cuts runs of rows, by ascending length, into buckets of least cost; into at most most of them, if
// counting a kernel's start as more expensive, up to dearest times, achieves that. entries is the number of entries of
// the whole matrix.
func split(runs []run, entries, most int) []extent {
	best := cheapest(runs, entries, kernelCost)
	buckets := best
	for cost := 1.25 * kernelCost; len(buckets) > most; cost *= 1.25 {
		if cost > dearest*kernelCost {
			return best
		}
		buckets = cheapest(runs, entries, cost)
	}
	return buckets
}

// cheapest returns the buckets of least total cost, where starting a kernel costs start. (Dynamic programming over the
// runs.)
func cheapest(runs []run, entries int, start float64) (buckets []extent) {
	perTerm := termCost + termShare*float64(entries)
	// best[i] is the least cost of the runs before i, and from[i] where the last bucket among them begins.
	best, from := make([]float64, len(runs)+1), make([]int, len(runs)+1)
	for i := range runs {
		rows, terms := 0, float64(runs[i].length)
		best[i+1] = -1
		for k := i; k >= 0; k-- {
			rows += runs[k].count
			if cost := best[k] + terms*(float64(rows)+perTerm) + start; best[i+1] < 0 || cost < best[i+1] {
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

// splitChunks is split into at least two buckets. XLA would compute the chunks of a single bucket anew for each of
// their uses (five times slower); those of two are concatenated, and a concatenation is computed once.
func splitChunks(runs []run, entries, most int) []extent {
	buckets := split(runs, entries, most)
	if len(buckets) != 1 || buckets[0].rows < 2 {
		return buckets
	}
	half, all := buckets[0].rows/2, buckets[0]
	for i, rows := 0, 0; ; i++ {
		if rows += runs[i].count; rows >= half {
			return []extent{{half, runs[i].length}, {all.rows - half, all.terms}}
		}
	}
}
