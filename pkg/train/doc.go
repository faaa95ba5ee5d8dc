// Package train fits a model to one split of a graph by full-batch Adam, with early stopping on the validation metric.
// Weights that have a bound are kept within it. The results have all that a run record needs: times, iterations,
// residuals and metrics.
package train
