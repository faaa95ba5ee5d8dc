// Package roofline compares the measured time of training with the least time that the machine needs for it, by the
// roofline model (Williams, Waterman and Patterson, CACM 2009).
//
// A kernel is one kind of computation in an epoch, such as the product X W. It makes a number of floating-point
// operations and moves a number of bytes between processor and memory. This takes at least the time
//
//	t = max(operations / matrix rate, bytes / memory rate).
//
// Both rates are measured on the same engine with the same number of threads. The matrix rate is a number of operations
// per second, measured in two dense products: a large one, and one of the shape [n, d] x [d, d] that training has. The
// faster of the two counts. The memory rate is the number of bytes per second when an array is multiplied by a number
// and added to another array. Both arrays have the shape [n, d], as the features of all nodes have. If such arrays fit
// into a cache of the processor, this is the rate of the cache. (The rate on arrays far larger than all caches is
// measured and reported, too, but is not used in t.)
//
// Each kernel is also timed alone: it is repeated in a loop, on arrays as large as those of training. The fraction of a
// kernel is t divided by the measured time.
//
// # What an epoch of GCN+ReP needs
//
// The symbols are: n nodes, E non-zero entries of Â, F features per node, Z non-zero features in all nodes together, C
// outputs, width d, P parameters, L_F forward and L_R reverse layers, and s and a, the mean numbers of iterations of a
// solve and of an adjoint solve. The preactivation of a layer is u = Â X W. The cotangent of a value is the derivative
// of the loss with respect to this value, and G is the cotangent of u. Numbers are stored in 4 bytes each.
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
//   - X W and Â X are the two products of a layer's preactivation. The products of backpropagation, with W^T and Â^T,
//     have the same sizes and are counted here as well.
//   - Xᵀ G is what one layer adds to the gradient of W, with Â X in place of X. What the layer adds to the gradient
//     of the bias is counted here as well.
//   - "iterate" is the rest of an iteration of a solve: the new iterate y - ReLU(u + b), and the mean change of the
//     iterate. It reads three arrays and writes one.
//   - "correct" is the same for an adjoint solve. It reads four arrays and writes two: the new iterate and its change.
//   - "layer" is the start of a solve, which is extrapolated from the preactivations of the last three layers. It reads
//     four arrays and writes one. A reverse layer does more with arrays of shape [n, d]: it stores a preactivation,
//     computes the sum y = z + h(z), multiplies by σ', and adds up cotangents. All this takes about three times as long
//     as "layer". So "layer" is counted four times for each reverse layer.
//   - "encoder", with or without sparse features, and "head" are each counted with their forward and backward pass.
//   - "Adam" is the step of the optimiser.
//
// The last column comes about as follows. A forward layer computes the products X W and Â X four times: in the forward
// pass; in the backward pass, where the layer is evaluated again, since few layers' results are stored; once more with
// the intermediate results that its gradient needs; and for the vector-Jacobian product, which is backpropagation
// through the layer. A reverse layer computes the products s times in the iterations of its solve, once to recompute
// its input y = z + h(z) from its result z, and a times in the iterations of its adjoint solve. If preactivations are
// stored ([solve.Keeps]), recomputing the input takes no X W.
//
// In the bytes of Â X, every entry of Â is counted with an index, a weight and a row of X. The product can be faster
// than its least time t: if neighbours are close together in memory, their rows are read from a faster cache.
package roofline
