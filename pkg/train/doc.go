// Package train fits a model to one split of a graph, computes the outputs of trained models, and times training steps.
// Each epoch is one step of Adam on the loss of all training nodes (full-batch training). Training stops early if the
// validation metric has not improved for a number of epochs. If the norms of parameters have a bound (docs/concepts.md,
// "When the inverse exists"), training keeps them at or below the bound. Results have all that a record of the run
// needs: times, iterations, residuals and metrics.
//
// These words have a fixed meaning here:
//
//   - The variables of a model are its parameters, which training changes, and the running means and variances of batch
//     normalisation. GoMLX holds the present values of the variables in a store. The weights of a model are the values
//     of its variables at one time, by name.
//   - The best epoch is the first epoch with the best validation metric. The weights after the best epoch, and the
//     logits that the model computes with them, are kept for the result.
//   - A model is evaluated in one of two modes. In training mode, dropout sets features to 0 at random, and batch
//     normalisation uses the mean and variance of the features that it is given. In evaluation mode nothing is random,
//     and batch normalisation uses its running means and variances.
//   - A program is a computation graph of GoMLX that was compiled for an engine (package engine). A training has one
//     program for the training step, and sometimes a second one for evaluation.
//   - A checkpoint is a file with the state of an unfinished training, from which the training can be resumed.
//   - Inside a program, the nodes of the dataset's graph are sorted in an order that the model chooses, so that sums
//     over neighbours are fast. This is the model's order. Results have the nodes in the graph's own order.
//   - A solve finds the result of a reverse layer by fixed-point iteration, and an adjoint solve finds the layer's
//     gradient in the same way (docs/concepts.md). The residual of a solve tells how far the result is from the exact
//     solution.
package train
