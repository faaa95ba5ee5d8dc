// Package roofline tells how far training is from what the machine allows (Williams, Waterman
// and Patterson, CACM 2009).
//
// A kernel that makes F floating-point operations and moves B bytes cannot take less than
//
//	t = max(F / matrix rate, B / memory rate),
//
// with the rates measured on the same engine and threads: the matrix rate is that of the best of a large dense product
// and one of the kernel's own shape; the memory rate that of a = s a + b on arrays as large as the features X [n, d],
// which may stay in a cache, or far larger than all caches where X is. Each kernel is timed by itself in a loop of the
// shape that training has, and its fraction is t over that time.
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
// A forward layer is evaluated, evaluated again from a kept state, linearised, and pulled back; a reverse layer takes
// s evaluations, one to rewind it (y = z + h(z)), which also linearises, and a pull-backs; where preactivations are
// kept ([solve.Keeps]), rewinding takes no X W. Every entry of Â reads a row of X, an index and a weight; "iterate" is
// y - ReLU(u + b) and the mean change of the iterate, which reads three arrays and writes one; "correct" is the same
// of an adjoint solve, which reads four arrays, the iterate and its last change among them, and writes those two;
// "layer" is the start of a solve from three extrapolated preactivations, which reads four arrays and writes one; what
// else a layer does to states, keeping a preactivation, the step back y = z + h(z) and the cotangents' gates and sums,
// is as much about three times. Encoder and head count forwards and backwards.
//
// A sum over neighbours can be faster than its bound where neighbours lie close together and rows are
// read from a faster cache.
package roofline
