package sparse

// A bucket is a set of rows whose sums are computed together. All its rows are padded to the length of the longest.
// This length is the bucket's number of terms. The estimated cost of a bucket, where adding up one entry costs 1, is
//
//	rows * terms + kernelCost + terms * (termCost + termShare * entries of the whole matrix).
//
// The first part is the cost of the entries and the padding. The second is the cost of starting the kernel, which is
// the compiled loop that computes the bucket. The third is the cost of compiling the terms. It grows with the size of
// the matrix, as running does, so that compile time has the same share in the cost for graphs of all sizes.
const (
	kernelCost = 100
	termCost   = 5
	termShare  = 3e-4
)

// XLA CPU computes up to `fused` buckets in one kernel, which writes the sums of each bucket directly into the rows of
// the result. To find a split with few enough buckets, [split] raises the cost of starting a kernel, to at most
// `dearest` times kernelCost, until the cheapest split has few enough.
const (
	fused   = 8
	dearest = 16
)

// run stands for count rows that have length entries each.
type run struct{ length, count int }

// extent is the size of a bucket: its number of rows, and the number of terms in each row.
type extent struct{ rows, terms int }

// split divides runs of rows, sorted by ascending length, into the buckets that have the least total cost. If there are
// more than `most` of them, split raises the cost of starting a kernel step by step until there are few enough. If
// there are still too many at `dearest` times the cost, it returns the buckets that it found first. entries is the
// number of entries of the whole matrix.
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
	// best[i] is the least cost of the runs before run i, and from[i] is the first run of the last bucket among them.
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

// splitChunks is [split] for the chunks of long rows, but returns at least two buckets. XLA would compute the sums of a
// single bucket again for each operation that reads them, which is five times slower. The sums of two buckets are
// concatenated, and XLA computes a concatenation only once.
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
