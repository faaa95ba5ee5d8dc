// Package sparse passes messages along a graph's edges: products with sparse matrices, and attention. Its operations
// are operations of GoMLX. They run on every engine, in loops as well, and are differentiable.
//
// Derivatives are written by hand, without scatters, which are slow and not deterministic.
//
//   - [CSR] is a sparse matrix in main memory: [Adjacency] of a graph, [In] and [Out] with the directions of edges,
//     [FromEdges] and [FromDense]. Its methods add self loops and normalise.
//   - [Matrix] is for weights that are known beforehand. Its [Operator] computes A x and A^T x.
//   - [Pattern] is for weights that a model computes, as in attention. Its [Edges] copy features of nodes to edges,
//     compute inner products, softmax, sum, mean and maximum over each node's neighbours, and products with edges'
//     values.
//
// Rows are the targets of edges and columns the sources, so that (A x)_i is the sum of what node i receives. (Papers on
// directed graphs often define the transpose: their A is [Out].)
//
// A compiled program takes the arrays of a matrix or pattern (Tensors) as arguments; the method On makes operations of
// the nodes that stand for them. All arrays of a model list nodes in one [Order], by default those with few neighbours
// first. A matrix holds one kind of edges: for several relations, make one each with the same order.
//
// # How sums are computed
//
// A matrix is stored as "sliced rows" (after sliced ELLPACK: Monakov, Lokhmotov and Avetisyan, HiPEAC 2010). The
// comments in the source use these terms:
//
//   - An entry is a stored number of the matrix, and belongs to an edge. Rows are stored by length, their number of
//     entries, shortest first.
//   - A bucket is a group of consecutive rows, padded to the length of the longest. Their sums are computed together:
//     the k-th terms of all by one gather of rows of x and a multiplication with the weights, which XLA compiles into
//     one vectorised loop. For GPUs ([Layout]), there are fewer and wider buckets, with one gather for all terms.
//   - A place is a position in the stored arrays: an entry or padding.
//   - A long row, with too many entries for one sum, is cut into chunks, which form buckets of their own.
//   - A level is a list of buckets. The first has the sums of short rows and of chunks, the second adds up the chunks'
//     sums of each long row, and further ones follow if there are too many. From the second on, a place has a chunk's
//     sum.
//   - A copy of a node stands for it in one attention head; see [PatternOptions].
//
// The cost of a product is proportional to the number of entries, plus up to 25 % for padding.
package sparse
