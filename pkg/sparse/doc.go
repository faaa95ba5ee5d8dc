// Package sparse provides a graph's adjacency as differentiable operations on GoMLX nodes, on every engine: the
// building blocks of message passing. GoMLX itself has no sparse product, and its gradient of a gather is a scatter,
// which is slow and not deterministic.
//
//   - [CSR] is a sparse matrix in main memory. [Adjacency] makes it from a graph, [In] and [Out] with the directions
//     of its edges, [FromEdges] from lists of edges, also between two sets of nodes, and [FromDense] from dense rows.
//     Methods add self loops and normalise it.
//   - [Matrix] is for weights that are known beforehand, as in graph convolutions and GraphSAGE: products A x and A^T
//     x.
//   - [Pattern] is for weights that a model computes, as in attention. Its [Edges] have values per edge, their
//     softmax, sums, means and maxima over neighbours, products with these weights, and inner products of the edges'
//     ends.
//
// Targets of edges are rows and sources are columns: (A x)_i sums what node i receives. (Papers on directed graphs
// often define the transpose: their A is [Out].) All per-node arrays of a model are in one [Order]. The arrays of a
// matrix or pattern are arguments of the program: pass it what Tensors returns, and bind the nodes in the graph by On
// (for ordinary code, with gradients) or by Bare (for loop bodies and derivatives by hand, see package layers).
//
// Rows are sorted by degree and cut into buckets of similar length. Each bucket is an unrolled sum of weighted
// gathers, which XLA fuses into one vectorised loop ("sliced rows", after sliced ELLPACK: Monakov, Lokhmotov and
// Avetisyan, HiPEAC 2010). The cost is proportional to the number of entries, plus up to 25 % padding.
//
// Not supported: directed edges in the blocks of package layers, which refuse them, except a GAT that is made Directed;
// and several relations in one matrix (make one matrix each, in one order).
package sparse
