package metrics

import (
	"fmt"
	"math"
)

// GSL returns the graph smoothness level of representations x, a row-major [n, d] matrix with a row for each node. GSL
// is the average cosine similarity over all ordered pairs of different nodes,
//
//	GSL(X) = 1/(n(n-1)) Σ_i Σ_{j≠i} x_i·x_j / (|x_i||x_j|),
//
// where x_i is the row of node i. GSL is between -1 and 1; 1 means that the representations of all nodes point in one
// direction. With the unit vectors u_i = x_i/|x_i|, the double sum equals |Σ_i u_i|² - Σ_i |u_i|². In this form the sum
// takes O(n d) steps instead of O(n² d).
//
// The cosine similarity to a row of zeros is undefined. It counts as 0, as in PyTorch's cosine_similarity. It is an
// error if n is less than 2, or if a value is not finite.
func GSL[F Float](x []F, n, d int) (float64, error) {
	if n < 2 || d < 1 || len(x)/d != n || len(x)%d != 0 {
		return 0, fmt.Errorf("GSL needs representations of at least two nodes as [n, d]; "+
			"there are %d values for n = %d, d = %d", len(x), n, d)
	}
	sum := make([]float64, d)
	units := 0
	for i := range n {
		row := x[i*d : (i+1)*d]
		// The row is first divided by its largest absolute entry. Otherwise the square of a very large value would be
		// infinite, and the square of a very small value would be 0.
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

// MeanAbsError returns the mean of |a_i - b_i| over the entries of a and b. It is an error if a and b have different
// lengths or are empty. If an entry is infinite or NaN, the result is infinite or NaN, too.
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
