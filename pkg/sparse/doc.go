// Package sparse computes products with a graph's adjacency matrix, and other operations along a graph's edges. Layers
// of message passing are built of these operations. They are operations of GoMLX, and run on every engine (XLA or pure
// Go, see package engine). They are differentiable, except those that are meant for loop bodies.
//
// The package is needed since GoMLX has no product with a sparse matrix. GoMLX can gather rows, which means to select
// rows by a list of their numbers. But the gradient of a gather is a scatter, which means to add values to rows that
// are given by a list of their numbers. A scatter is slow and not deterministic. The derivatives in this package are
// therefore written by hand, without scatters.
//
// A *Node is a value in a GoMLX computation. Where comments say that nodes stand for arrays, they mean such values.
// Elsewhere, "node" means a node of the graph. The cotangent of a value is the derivative of the loss with respect to
// this value. Square brackets hold shapes: x, [n, d], has n rows and d columns.
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
// The rows of a matrix are the targets of edges, and the columns are the sources. So (A x)_i is the sum of what node i
// receives. (Papers on directed graphs often define the transpose: their A is [Out].)
//
// # Use in a program
//
// A program is a compiled GoMLX computation. A matrix or pattern consists of arrays of indices and weights, which are
// arguments of the program. Pass the program the arrays that the method Tensors returns. Inside the computation, give
// the nodes that stand for these arrays to the method On or to the method Bare. On is for ordinary code, and its
// operations have gradients. Bare is for loop bodies and for derivatives written by hand (see package layers). Its
// operations have no gradients.
//
// All arrays of a model that have a row for each node, such as features and labels, list the nodes in the same [Order],
// which is called the model's order. By default, nodes with few neighbours come first.
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
//
// # Not supported
//
// The blocks of package layers refuse matrices of directed edges, except a GAT whose field Directed is set. A matrix
// holds one kind of edges only. For several kinds (relations), make one matrix for each, all with the same order.
package sparse
