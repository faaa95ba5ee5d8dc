// Package train fits a model to a split of a graph: full-batch Adam, the bound on the weights, early stopping on the
// validation metric, and what a run record needs: times, iterations, residuals, outcome.
package train
