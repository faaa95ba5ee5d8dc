// Package roofline compares the measured time of training with the least time that the machine needs for it, by the
// roofline model (Williams, Waterman and Patterson, CACM 2009).
//
// A kernel is one kind of computation in an epoch, such as the product X W. It makes a number of floating-point
// operations and moves a number of bytes between processor and memory. This takes at least the time
//
//	t = max(operations / matrix rate, bytes / memory rate).
//
// Both rates are measured on the same engine with the same number of threads:
//
//   - The matrix rate is the number of operations per second in a product of two dense matrices. It is measured for two
//     large matrices, and for matrices of the shapes [n, d] and [d, d], as in training with n nodes and width d. The
//     higher of the two rates is used.
//   - The memory rate is the number of bytes per second when an array is multiplied by a number and added to another
//     array. Both arrays have the shape [n, d], as the features of all nodes have. If these arrays fit into a cache of
//     the processor, this is the rate of the cache. (The rate for arrays far larger than all caches is measured and
//     reported, too, but is not used in t.)
//
// Each kernel is also timed alone: it is repeated in a loop, on arrays as large as those of training. The fraction of a
// kernel is t divided by the measured time.
//
// # What an epoch of GCN+ReP needs
//
// The graph has n nodes, and Â has E non-zero entries. A node has F features. All nodes together have Z non-zero
// features. The model has C outputs, width d, P parameters, L_F forward layers and L_R reverse layers. s is the mean
// number of iterations of a solve, and a is the mean number of iterations of an adjoint solve. The preactivation of a
// layer is u = Â X W. The cotangent of a value is the derivative of the loss with respect to this value, and G is the
// cotangent of u. Each number is stored in 4 bytes.
//
//	kernel      operations     bytes                      times per epoch
//	X W         2 n d²         4 (2 n d + d²)             4 L_F + L_R (s + 1 + a)
//	Â X         2 E d          E (4 d + 8) + 4 n d        4 L_F + L_R (s + 1 + a)
//	Xᵀ G        2 n d²         4 (2 n d + d²)             L_F + L_R
//	iterate     6 n d          16 n d                     L_R s
//	correct     7 n d          24 n d                     L_R a
//	layer       8 n d          20 n d                     4 L_R
//	encoder     4 n F d        4 (2 n F + 2 n d + 4 F d)  1
//	  (sparse)  4 Z d          Z (8 d + 16) + 4 (2 n d + 4 F d)
//	head        12 n d C       4 (8 n d + 4 n C)          1
//	Adam        12 P           28 P                       1
//
// The kernels are:
//
//   - "X W" and "Â X" are the two products of a layer's preactivation. Backpropagation multiplies by W^T and Â^T. These
//     products have the same sizes and are counted here as well.
//   - "Xᵀ G" stands for the product (Â X)ᵀ G, which has the same size. This product is a layer's part of the gradient
//     of W. The layer's part of the gradient of the bias b is counted here as well.
//   - "iterate" is the rest of an iteration of a solve. It computes the new iterate y - ReLU(u + b), where y is the
//     layer's input, and the mean absolute change of the iterate. It reads three arrays and writes one.
//   - "correct" is the rest of an iteration of an adjoint solve. It reads four arrays and writes two: the new iterate
//     and its change.
//   - "layer" computes the first guess of a solve from the preactivations of the last three layers. It reads four
//     arrays and writes one. A reverse layer does more with arrays of shape [n, d]: it stores a preactivation, computes
//     the sum y = z + h(z), multiplies by the derivative of ReLU, and adds up cotangents. All this takes about three
//     times as long as "layer". So "layer" is counted four times for each reverse layer.
//   - "encoder" is the linear map at the beginning of the model, with its backward pass. The second line is for
//     features that are stored as a sparse matrix.
//   - "head" is the linear map at the end of the model, with its backward pass.
//   - "Adam" is the step of the optimiser.
//
// The last column is explained as follows. A forward layer computes the products X W and Â X four times: once in the
// forward pass, and three times in the backward pass. The backward pass first evaluates the layer again, since the
// results of most layers are not stored. Then it evaluates the layer once more, to get the intermediate results that
// the gradient needs. The fourth time is backpropagation through the layer.
//
// A reverse layer computes the products s times in the iterations of its solve, and a times in the iterations of its
// adjoint solve. It computes them once more in the backward pass, to get its input y = z + h(z) from its result z. If
// preactivations are stored ([solve.Keeps]), only the product Â X is computed once more, and not X W.
//
// The bytes of Â X include an index, a weight and a row of X for each entry of Â. The product can take less than the
// time t: if neighbours are close together in memory, their rows are read from a faster cache.
package roofline
