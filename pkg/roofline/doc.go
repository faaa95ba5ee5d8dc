// Package roofline compares the time of training with the least that the machine allows (Williams, Waterman and
// Patterson, CACM 2009).
//
// A kernel that makes F floating-point operations and moves B bytes cannot take less than
//
//	t = max(F / matrix rate, B / memory rate),
//
// where the rates are measured on the same engine and threads. The matrix rate is the better of a large dense
// product's and of one of the kernel's own shape. The memory rate is that of a = s a + b: on arrays as large as the
// features X [n, d], which may stay in a cache, or, where X is larger, on arrays far larger than all caches. Each
// kernel is timed alone, in a loop of the shape that training has, and its fraction is t over that time.
//
// # What an epoch of GCN+ReP needs
//
// With n nodes, E entries of Â, F features, Z of all nodes' features not zero, C outputs, width d, P
// parameters, L_F forward and L_R reverse layers, and s and a mean iterations of a solve and of an adjoint
// solve (all numbers are of 4 bytes):
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
// A forward layer is evaluated twice (the second time from a kept state), linearised, and pulled back. A reverse layer
// takes s evaluations, one to rewind it (y = z + h(z)), which also linearises, and a pull-backs; where preactivations
// are kept ([solve.Keeps]), rewinding takes no X W. Every entry of Â reads a row of X, an index and a weight.
// "iterate" is y - ReLU(u + b) and the mean change of the iterate; it reads three arrays and writes one. "correct" is
// the same for an adjoint solve; it reads four arrays, among them the iterate and its last change, and writes these
// two. "layer" is the start of a solve from three extrapolated preactivations; it reads four arrays and writes one.
// Whatever else a layer does to states takes about three times as much as "layer": keeping a preactivation, the step
// back y = z + h(z), and gates and sums of cotangents. Encoder and head are counted forwards and backwards.
//
// A sum over neighbours can be faster than its bound, where neighbours lie close together and their rows are read from
// a faster cache.
package roofline
