package sparse

// The cost of a bucket, in stored entries: the places of its rows, padded to the longest; starting its kernel,
// which takes as long as some 100 entries; and compiling its terms, which is to weigh the same on graphs of all
// sizes.
const (
	kernelCost = 100
	termCost   = 5
	termShare  = 3e-4 // of all entries
)

// XLA CPU computes up to fused buckets in one kernel, straight into their rows' places. Fewer buckets than are
// cheapest are taken for that, unless it takes a kernel's start to be thought more than dearest times as expensive.
const (
	fused   = 8
	dearest = 16
)

// run is a number of rows of one length.
type run struct{ length, count int }

// extent of a bucket.
type extent struct{ rows, terms int }

// split cuts runs of rows, by ascending length, into buckets, no more than most of them if that is cheap enough;
// entries is the number of entries of the whole matrix.
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

// cheapest are the buckets of least cost in all, where starting a kernel costs start. (Dynamic programming over the
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

// splitChunks is split with two buckets at least. XLA would compute the chunks of a single one anew for each of
// their uses (five times slower); those of two are concatenated, which it does not repeat.
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
