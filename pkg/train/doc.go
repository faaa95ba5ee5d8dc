// Package train fits a model to one split of a graph, computes the outputs of trained models, and times training steps.
// An epoch is one step of Adam on the loss of all training nodes. Training stops early if the validation metric has not
// improved for a number of epochs, and keeps bounds on the norms of parameters (docs/concepts.md, "When the inverse
// exists"). Results have all that a record of the run needs.
//
//   - The variables of a model are its parameters and running statistics of batch normalisation; a store of GoMLX has
//     their present values. The weights are the values of all variables at one time, by name.
//   - The best epoch is the first with the best validation metric. Its weights and logits are kept.
//   - In training mode, dropout is random, and batch normalisation uses the statistics of its input; in evaluation
//     mode, nothing is random, and it uses its running statistics.
//   - A program is a computation graph that was compiled for an engine. Inside, nodes are in the model's order; results
//     have them in the graph's.
package train
