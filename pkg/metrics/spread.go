package metrics

import (
	"math"
	"slices"
)

// Mean returns the arithmetic mean of x. It returns NaN if x is empty.
func Mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// Median returns the median of x: the value in the middle when the values are sorted. If the number of values is even,
// it returns the mean of the two values in the middle. It returns NaN if x is empty.
func Median(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}

// SampleStd returns the standard deviation of n values with the divisor n-1, as Platonov et al. (2023) report it. It
// returns 0 for a single value, where the formula would give 0/0. It returns NaN if x is empty.
func SampleStd(x []float64) float64 {
	if len(x) == 1 {
		return 0
	}
	n := float64(len(x))
	return PopulationStd(x) * math.Sqrt(n/(n-1))
}

// PopulationStd returns the standard deviation of n values with the divisor n, as the code of the paper's authors
// reports it. It returns NaN if x is empty.
func PopulationStd(x []float64) float64 {
	mean, sum := Mean(x), 0.0
	for _, v := range x {
		sum += (v - mean) * (v - mean)
	}
	return math.Sqrt(sum / float64(len(x)))
}
