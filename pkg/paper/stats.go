package paper

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/combin"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/revgnn/revgnn/pkg/metrics"
)

// leastPairs is the smallest number of splits for a significance test of gains.
const leastPairs = 3

// pairedT is the two-sided p-value of Student's paired t-test, from the differences: NaN if there are fewer than
// [leastPairs] or all are equal.
func pairedT(differences []float64) float64 {
	n := float64(len(differences))
	spread := metrics.SampleStd(differences)
	if len(differences) < leastPairs || !(spread > 0) {
		return math.NaN()
	}
	t := metrics.Mean(differences) / (spread / math.Sqrt(n))
	return 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Survival(math.Abs(t))
}

// halfInterval is half the width of a confidence interval for the mean of two values or more, by Student's t.
func halfInterval(values []float64, level float64) float64 {
	n := float64(len(values))
	quantile := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile((1 + level) / 2)
	return quantile * metrics.SampleStd(values) / math.Sqrt(n)
}

// mostPermuted is the largest number of values for an exact p-value: 8! = 40,320 permutations.
const mostPermuted = 8

// spearman is Spearman's rank correlation and its two-sided p-value: exact, over all permutations, for up to eight
// values, else by Student's t with n-2 degrees of freedom.
func spearman(x, y []float64) (rho, p float64) {
	a, b := ranks(x), ranks(y)
	rho = stat.Correlation(a, b, nil)
	if math.IsNaN(rho) {
		return 0, 1 // all values of x are equal, or all values of y
	}
	if n := len(x); n > mostPermuted {
		df := float64(n - 2)
		t := math.Abs(rho) * math.Sqrt(df/(1-rho*rho)) // for |rho| = 1, t is infinite and p is 0
		return rho, 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Survival(t)
	}
	const rounding = 1e-9
	orders, far, order := combin.NewPermutationGenerator(len(b), len(b)), 0, make([]float64, len(b))
	all := 0
	for orders.Next() {
		for i, k := range orders.Permutation(nil) {
			order[i] = b[k]
		}
		if all++; math.Abs(stat.Correlation(a, order, nil)) >= math.Abs(rho)-rounding {
			far++
		}
	}
	return rho, float64(far) / float64(all)
}

// ranks are positions in ascending order, from 1; equal values share the mean of theirs.
func ranks(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, x := range values {
		below, equal := 0, 0
		for _, y := range values {
			if y < x {
				below++
			} else if y == x {
				equal++
			}
		}
		out[i] = float64(below) + float64(equal+1)/2
	}
	return out
}
