package paper

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/report"
)

// leastPairs is the smallest number of splits for a significance test of gains. (On each split, a gain compares a pair
// of test metrics, with and without reverse layers.)
const leastPairs = 3

// pairedT returns the two-sided p-value of Student's t-test for paired values, given the difference of each pair. If
// the true mean difference is 0, the p-value is the probability of a mean at least as far from 0 as the mean of the
// given differences. The p-value is NaN if there are fewer than [leastPairs] differences, or if all differences are
// equal.
func pairedT(differences []float64) float64 {
	n := float64(len(differences))
	spread := metrics.SampleStd(differences)
	if len(differences) < leastPairs || !(spread > 0) {
		return math.NaN()
	}
	t := metrics.Mean(differences) / (spread / math.Sqrt(n))
	return 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Survival(math.Abs(t))
}

// halfInterval returns half the width of a confidence interval for the true mean of the given values, by Student's t
// distribution. The interval is symmetric around the mean of the values. Level is its confidence level, such as 0.95.
// There must be at least two values.
func halfInterval(values []float64, level float64) float64 {
	n := float64(len(values))
	quantile := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile((1 + level) / 2)
	return quantile * metrics.SampleStd(values) / math.Sqrt(n)
}

// exponent finds the exponent p for which y is about proportional to x^p. It fits a straight line to the logarithms of
// x and y. The slope of this line is p.
func exponent(x, y []float64) (report.Fit, error) {
	lx, ly := make([]float64, len(x)), make([]float64, len(y))
	for i := range x {
		lx[i], ly[i] = math.Log(x[i]), math.Log(y[i])
	}
	return report.FitLine(lx, ly)
}
