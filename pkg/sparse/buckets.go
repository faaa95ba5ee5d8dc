package sparse

// A bucket is a set of rows that are summed together. All of them are padded to the longest, whose number of entries is
// the bucket's number of terms. The bucket's cost, in units of one stored entry, is
//
//	rows * terms + kernelCost + terms * (termCost + termShare * entries of the whole matrix).
//
// The first part is the padded entries, the second the start of the kernel, and the third the time to compile the
// terms. The third grows with the matrix, so that compiling weighs the same on graphs of all sizes.
const (
	kernelCost = 100
	termCost   = 5
	termShare  = 3e-4
)

// XLA CPU computes up to `fused` buckets in one kernel, which writes each bucket directly to the places of its rows.
// [split] stays within a number of buckets by counting the start of a kernel as more expensive, up to `dearest` times,
// until the cheapest split has few enough.
const (
	fused   = 8
	dearest = 16
)

// run is a number of rows of equal length.
type run struct{ length, count int }

// extent is a bucket's number of rows and of terms per row.
type extent struct{ rows, terms int }

// split cuts runs of rows, sorted by ascending length, into the buckets of least total cost. Where these are more than
// `most`, it counts a kernel's start as more and more expensive, until there are few enough; if `dearest` times the
// cost does not achieve that, it returns the first answer. entries is the number of entries of the whole matrix.
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

// cheapest returns the buckets with the least total cost, found by dynamic programming over the runs. start is the
// cost of starting a kernel.
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

// splitChunks is [split], but with at least two buckets. XLA would compute the chunks of a single bucket again for each
// of their uses (five times slower). The chunks of two buckets are concatenated, and a concatenation is computed once.
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
