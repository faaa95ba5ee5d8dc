package metrics

import (
	"fmt"
	"math"
)

// GSL returns the graph smoothness level of representations x, row-major [n, d]: the average cosine similarity over
// all ordered pairs of different nodes,
//
//	GSL(X) = 1/(n(n-1)) Σ_i Σ_{j≠i} x_i·x_j / (|x_i||x_j|),
//
// between -1 and 1; 1 means that all nodes look alike. With unit vectors u_i the double sum is |Σ u_i|² - Σ |u_i|², so
// this takes O(n d) and not O(n² d), and is exact up to rounding.
//
// The similarity to a row of zeros is undefined; it counts as 0, as in PyTorch's cosine_similarity. Fewer than two
// nodes, and values that are not finite, are errors.
func GSL[F Float](x []F, n, d int) (float64, error) {
	if n < 2 || d < 1 || len(x)/d != n || len(x)%d != 0 {
		return 0, fmt.Errorf("GSL needs representations of at least two nodes as [n, d]; "+
			"there are %d values for n = %d, d = %d", len(x), n, d)
	}
	sum := make([]float64, d)
	units := 0
	for i := range n {
		row := x[i*d : (i+1)*d]
		// Scaling by the largest entry keeps the squares of very large and very small float64 values in range.
		largest := 0.0
		for k, v := range row {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				return 0, fmt.Errorf("entry %d of node %d's representation is %v; GSL needs finite values", k, i, v)
			}
			largest = max(largest, math.Abs(float64(v)))
		}
		if largest == 0 {
			continue
		}
		squares := 0.0
		for _, v := range row {
			scaled := float64(v) / largest
			squares += scaled * scaled
		}
		length := math.Sqrt(squares)
		for k, v := range row {
			sum[k] += float64(v) / largest / length
		}
		units++
	}
	total := -float64(units)
	for _, s := range sum {
		total += s * s
	}
	return total / (float64(n) * float64(n-1)), nil
}

// MeanAbsError returns the mean of |a_i - b_i|. Different lengths, and nothing to compare, are errors; infinite or NaN
// values make the result infinite or NaN.
func MeanAbsError[F Float](a, b []F) (float64, error) {
	if len(a) != len(b) || len(a) == 0 {
		return 0, fmt.Errorf("%d and %d values cannot be compared one by one", len(a), len(b))
	}
	sum := 0.0
	for i := range a {
		sum += math.Abs(float64(a[i]) - float64(b[i]))
	}
	return sum / float64(len(a)), nil
}
