// Package sparse provides products with a graph's adjacency matrix, and other operations along a graph's edges, as
// differentiable operations of GoMLX: the building blocks of message passing. They run on every engine. GoMLX itself
// has no sparse product, and its gradient of a gather is a scatter, which is slow and not deterministic.
//
// The type *Node is a value in a GoMLX computation. Elsewhere, "node" means a node of the graph. The cotangent of a
// value is the derivative of the loss with respect to this value.
//
//   - [CSR] is a sparse matrix in main memory. [Adjacency] makes one from a graph and ignores the directions of edges;
//     [In] and [Out] keep the directions. [FromEdges] makes one from lists of edges, also of edges between two sets of
//     nodes, and [FromDense] from a dense matrix. Methods of CSR add self loops and normalise the weights.
//   - [Matrix] is for weights that are known beforehand, as in graph convolutions and GraphSAGE. It computes the
//     products A x and A^T x.
//   - [Pattern] is for weights that a model computes, as in attention. Its operations, the methods of [Edges], copy
//     features of nodes to edges, compute inner products of the features at an edge's two ends, and compute the
//     softmax, sum, mean and maximum of edges' values over each node's neighbours. They also compute products A x in
//     which the edges' values are the weights.
//
// Rows of a matrix are the targets of edges, and columns are their sources: (A x)_i sums what node i receives. (Papers
// on directed graphs often define the transpose: their A is [Out].) All per-node arrays of a model are in the same
// [Order] of nodes.
//
// A matrix or pattern consists of arrays of indices and weights, which are arguments of the compiled program. Pass the
// program the arrays that Tensors returns. Inside the program, give the nodes that stand for these arrays to On (for
// ordinary code, with gradients) or to Bare (for loop bodies and derivatives written by hand, see package layers).
//
// A matrix is stored as "sliced rows" (after sliced ELLPACK: Monakov, Lokhmotov and Avetisyan, HiPEAC 2010). Rows are
// sorted by their numbers of entries. Consecutive rows with similar numbers form a bucket, and are padded to the same
// length. The sums of a bucket's rows are a sum of weighted gathers: the first gather reads the first entry of every
// row, the second gather reads the second entry, and so on. XLA compiles this sum into one vectorised loop. The cost is
// proportional to the number of entries, plus up to 25 % padding.
//
// Two things are not supported. The blocks of package layers refuse matrices of directed edges, except a GAT whose
// field Directed is set. And a matrix holds one relation only: for several relations, make one matrix for each, all in
// the same order.
package sparse
