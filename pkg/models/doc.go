// Package models holds the models, each in a file of its own, and the registry in which all other packages look models
// up.
//
// A model registers its [Kind]: its name, its settings with their defaults, and a function that makes its [Network]. A
// network converts a dataset's graph to the arrays that the network needs ([Network.Prepare]), and adds itself to a
// computation graph of GoMLX ([Network.Build]). A network declares its parameters where it uses them: by
// [Builder.Param], by [Builder.Linear], or by GoMLX's own layers on [Builder.Scope]. Abilities that only some networks
// have are interfaces of their own, for example [Inverter], [Tracer] and [Explainer].
//
// These are the words and symbols of this package's comments:
//
//   - The paper is that of Park, Heo and Kim (ICML 2024). For a model that is not from the paper, the publication is
//     the article that introduced the model. The authors are those of the paper or of the publication.
//   - [n, d] is the shape of an array with n rows and d columns. n is the number of nodes of the graph, and d is the
//     width of the layers (the setting "hidden"). [X, Y] and X ‖ Y are the matrices X and Y side by side, as one
//     matrix.
//   - A is the adjacency matrix of the graph, D the diagonal matrix of the nodes' degrees, and I the identity matrix.
//   - A value of the Go type *Node is an array in a computation graph of GoMLX. In all other places, a node is a node
//     of the dataset's graph. The store is GoMLX's list of variables: it holds the values of the parameters.
//   - A model has two kinds of settings. Shared settings are fields of [Config], and several models have them. The
//     model's own settings are declared in the model's file, by [OwnSettings].
//   - A block ([solve.Block]) is the branch h of a layer f(X) = X + h(X). A solve is the fixed-point iteration that
//     computes one reverse layer.
//   - The representation of a network is the array that its last linear map reads, with one row for each node.
//   - The cotangent of an array is the gradient of the loss with respect to this array. A vector-Jacobian product
//     computes the cotangents of a function's inputs from the cotangent of its result.
//   - A sparse matrix ([sparse.Matrix]) has weights that are known before training. A pattern ([sparse.Pattern]) is a
//     sparse matrix whose weights the model computes, as in attention. To lay out a sparse matrix or a pattern is to
//     convert it to the arrays with which package sparse computes products.
//   - A place is a position in the arrays of a pattern. It holds an edge or padding. Padding fills up the arrays, and
//     belongs to no edge. Values of edges, such as attention weights, have one row for each place: [places, k] is the
//     shape of an array with k numbers for each edge.
//   - A training step is one computation of the loss and of all gradients, with one update of the parameters.
//
// docs/add-a-model.md explains step by step how to add a model.
package models
