// Package sparse passes messages along a graph's edges: products with sparse matrices, and attention. Its operations
// are operations of GoMLX. They run on every engine, in loops as well, and are differentiable.
//
// GoMLX has no product with a sparse matrix. It can gather rows, but the gradient of a gather is a scatter, which is
// slow and not deterministic. Here the derivatives are written by hand, without scatters.
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
//   - An entry is a stored number of the matrix. It belongs to an edge. The length of a row is its number of entries.
//     Rows are stored in the order by length, shortest first.
//   - A bucket is a group of consecutive rows of similar length. Shorter rows are padded to the length of the longest
//     row of the bucket. The sums of the bucket's rows are computed together, term by term: the first term of every
//     sum, then the second term of every sum, and so on. The k-th terms of all sums are computed by one gather, which
//     reads a row of x for each sum, and by a multiplication with the weights. XLA compiles a bucket into one
//     vectorised loop.
//   - A place is a position in the stored arrays. It holds one entry or padding.
//   - A row with too many entries for one sum is cut into parts, which are called chunks. Such a row is called a long
//     row, and all others are short rows. Chunks form buckets of their own.
//   - A level is a list of buckets. The first level has the sums of short rows and the sums of chunks. The second level
//     adds up the chunks' sums of each long row. If a row has too many chunks for one sum, there are further levels.
//     From the second level on, a place holds the sum of a chunk or padding.
//   - A copy of a node stands for the node in one attention head. A pattern may have a row and a column for each copy
//     of each node; see [PatternOptions].
//
// The cost of a product is proportional to the number of entries, plus up to 25 % for padding.
package sparse
