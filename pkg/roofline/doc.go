// Package roofline compares the time of training with the least time that the machine needs for it, by the roofline
// model (Williams, Waterman and Patterson, CACM 2009).
//
// A kernel is one kind of computation in an epoch, such as X W. If it makes F floating-point operations and moves B
// bytes, it takes at least the time
//
//	t = max(F / matrix rate, B / memory rate),
//
// where both rates are measured on the same engine with the same number of threads. The matrix rate is the number of
// operations per second in a dense product: in a large product, or in one of shape [n, d] x [d, d], whichever is
// faster. The memory rate is the number of bytes per second in a = s a + b, on arrays as large as the features X, [n,
// d]. If X fits into a cache, this is the rate of the cache. (The rate on arrays far larger than all caches is measured
// and reported, too, but is not used in t.) Each kernel is also timed alone, in a loop with arrays as large as those of
// training. Its fraction is t divided by the measured time.
//
// # What an epoch of GCN+ReP needs
//
// The symbols are: n nodes, E entries of Â, F features per node, Z features of all nodes that are not zero, C outputs,
// width d, P parameters, L_F forward and L_R reverse layers, and s and a, the mean numbers of iterations of a solve and
// of an adjoint solve. All numbers have 4 bytes.
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
// The numbers of times come about as follows. A forward layer computes its products X W and Â X four times: twice to be
// evaluated (the second time from a kept state, in the backward pass), once to be linearised, and once for the
// vector-Jacobian product. A reverse layer computes them s times in the iterations of its solve, once to recompute its
// input y = z + h(z), and a times in the iterations of its adjoint solve. If preactivations are kept ([solve.Keeps]),
// recomputing the input takes no X W.
//
// The bytes come about as follows. Every entry of Â reads a row of X, an index and a weight. "iterate" is y - ReLU(u +
// b) and the mean change of the iterate; it reads three arrays and writes one. "correct" is the same for an adjoint
// solve; it reads four arrays, among them the iterate and its last change, and writes these two. "layer" is the start
// of a solve, extrapolated from three preactivations; it reads four arrays and writes one. Everything else that a layer
// does with states takes about three times as long as "layer", so that "layer" is counted four times for each reverse
// layer. This is keeping a preactivation, the sum y = z + h(z), the products with σ', and the sums of cotangents.
// Encoder and head are counted forwards and backwards.
//
// The product Â X can be faster than its least time t: if neighbours are close together in memory, their rows are read
// from a faster cache.
package roofline
