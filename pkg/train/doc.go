// Package train fits a model to one split of a graph: full-batch Adam, with the bound on the weights and early
// stopping on the validation metric. Results have what a run record needs: times, iterations, residuals and metrics.
package train
