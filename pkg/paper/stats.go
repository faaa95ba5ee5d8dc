package paper

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/report"
)

// leastPairs is the smallest number of splits for which differences are tested.
const leastPairs = 3

// pairedT is the two-sided p-value of Student's t-test for paired values: the probability, if there were no difference,
// of a mean difference at least as far from 0. It is NaN for fewer than [leastPairs] pairs, and if all differences are
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

// exponent fits y ~ x^p: it fits a straight line to the logarithms of x and y. The slope of the line is p.
func exponent(x, y []float64) (report.Fit, error) {
	lx, ly := make([]float64, len(x)), make([]float64, len(y))
	for i := range x {
		lx[i], ly[i] = math.Log(x[i]), math.Log(y[i])
	}
	return report.FitLine(lx, ly)
}
