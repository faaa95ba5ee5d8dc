package metrics

import (
	"math"
	"slices"
)

// Mean returns the arithmetic mean, NaN of nothing.
func Mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// Median returns the middle value, the mean of the two in the middle of an even number of values, NaN of nothing.
func Median(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}

// SampleStd returns the standard deviation with the divisor n-1, as Platonov et al. (2023) report it. Of a single
// value it is 0: no spread has been seen. Of nothing it is NaN.
func SampleStd(x []float64) float64 {
	if len(x) == 1 {
		return 0
	}
	n := float64(len(x))
	return PopulationStd(x) * math.Sqrt(n/(n-1))
}

// PopulationStd returns the standard deviation with the divisor n, as the authors' code reports it; NaN of nothing.
func PopulationStd(x []float64) float64 {
	mean, sum := Mean(x), 0.0
	for _, v := range x {
		sum += (v - mean) * (v - mean)
	}
	return math.Sqrt(sum / float64(len(x)))
}
