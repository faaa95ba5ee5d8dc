package metrics

import (
	"math"
	"slices"
)

// Mean is NaN if x is empty.
func Mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// Median is the value in the middle, or the mean of the two there; NaN if x is empty.
func Median(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}

// SampleStd is the standard deviation with the divisor n-1, as Platonov et al. (2023) report it; 0 for a single value,
// and NaN if x is empty.
func SampleStd(x []float64) float64 {
	if len(x) == 1 {
		return 0
	}
	n := float64(len(x))
	return PopulationStd(x) * math.Sqrt(n/(n-1))
}

// PopulationStd is that with the divisor n, as the code of the paper's authors reports it; NaN if x is empty.
func PopulationStd(x []float64) float64 {
	mean, sum := Mean(x), 0.0
	for _, v := range x {
		sum += (v - mean) * (v - mean)
	}
	return math.Sqrt(sum / float64(len(x)))
}
