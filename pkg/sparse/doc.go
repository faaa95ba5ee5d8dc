// Package sparse is the graph's adjacency as differentiable operations on GoMLX nodes, on every engine: what
// message passing is made of. GoMLX has no sparse product, and the gradient of a gather is a scatter, which is slow
// and not deterministic.
//
//   - [CSR] is a sparse matrix in main memory: [Adjacency] of a graph, [In] and [Out] with the directions of its edges,
//     [FromEdges] for lists of edges, also between two sets of nodes, [FromDense], with self loops and normalised as
//     wanted.
//   - [Matrix] has weights that are known beforehand, as in graph convolutions and GraphSAGE: products A x and A^T x.
//   - [Pattern] has weights that a model computes, as in attention: [Edges] are values per edge, their softmax, sums,
//     means and maxima over neighbours, products with them and inner products at the edges' ends.
//
// Targets of edges are rows, sources columns: (A x)_i is what node i is sent. (Papers on directed graphs often have it
// the other way round: their A is [Out].) Arrays of nodes are in one [Order]
// per model. The arrays of a matrix or pattern are arguments of the program: pass what Tensors returns, and bind it
// in the graph by On (ordinary code, with gradients by hand) or Bare (loop bodies and derivatives by hand, see
// package layers).
//
// Rows are sorted by degree and cut into buckets, and each bucket is an unrolled sum of weighted gathers, which XLA
// fuses into one vectorised loop ("sliced rows", after sliced ELLPACK: Monakov, Lokhmotov and Avetisyan, HiPEAC
// 2010). The cost is that of the entries, up to 25 % padding.
//
// Not supported: edges that are directed in the blocks of package layers, GAT and GRAND, which refuse them; several
// relations in one matrix: make one each, in one order.
package sparse
