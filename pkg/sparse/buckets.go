package sparse

// A bucket is a group of rows whose sums are computed together. All rows of a bucket are padded to the length of its
// longest row. This length is the bucket's number of terms. The estimated cost of a bucket, where adding up one entry
// costs 1, is
//
//	rows * terms + kernelCost + terms * (termCost + termShare * entries of the whole matrix).
//
// The first part is the cost of adding up the entries and the padding. The second part is the cost of starting the
// kernel, which is the compiled loop that computes the bucket. The third part is a price for each term, since every
// term takes time to compile. This price grows with the size of the matrix, so that it has about the same share of the
// cost for small and for large graphs.
const (
	kernelCost = 100
	termCost   = 5
	termShare  = 3e-4
)

// XLA CPU can compute several buckets in one kernel, which writes the sums of each bucket directly into the rows of the
// result. The constant fused is the largest number of buckets for which XLA does so. To get few buckets, [split] raises
// the cost of starting a kernel. The raised cost is at most dearest times kernelCost.
const (
	fused   = 8
	dearest = 16
)

// run is a group of count rows with length entries each.
type run struct{ length, count int }

// extent is the size of a bucket.
type extent struct{ rows, terms int }

// split divides rows into the buckets of least total cost (see [kernelCost]). If these are more than most, it raises
// the cost of starting a kernel, step by step up to dearest times kernelCost, until they are few enough.
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

// cheapest finds the buckets of least total cost by dynamic programming over the runs. start is the cost of a kernel.
func cheapest(runs []run, entries int, start float64) (buckets []extent) {
	perTerm := termCost + termShare*float64(entries)
	// best[i] is the least cost of buckets for the runs 0 … i-1. from[i] is the first run of the last of these buckets.
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

// splitChunks is [split] for chunks, with two buckets at least: XLA would compute the sums of a single one again in
// each operation that reads them, five times slower, but a concatenation only once.
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
