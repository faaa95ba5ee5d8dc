// Package layers holds the branches h of message-passing layers f(X) = X + h(X), with derivatives written by hand. It
// also has functions that bound the weights. The bound makes h a contraction, and therefore f has an inverse. For
// GRAND, the package holds the attention and the differential equation.
//
// Most branches implement [solve.Block], the interface of a function h with its derivatives. Such a branch is called a
// block. The comments use these terms:
//
//   - X is the state: the features of the n nodes of the graph, an array of the shape [n, d]. (The type *Node is a
//     value in a GoMLX computation, not a node of the graph.) σ is the activation. u is the preactivation, the array to
//     which the activation is applied: h(X) = σ(u), or σ(u + b) with a bias b.
//   - w is the list of the arrays that a block reads: first the trainable weights, then the others, such as the arrays
//     of indices that describe a sparse matrix. The arrays that describe a sparse matrix are called the tensors of the
//     matrix.
//   - A [sparse.Pattern] is a sparse matrix without its entries: it says only which edges there are. A place is a
//     position in the stored arrays of a sparse matrix or pattern. It holds an entry (an edge) or padding. Values of
//     edges are stored in an array of the shape [places, 1], in which the rows of padding are not used.
//   - The cotangent of an array is the gradient of the loss with respect to this array. v is the cotangent of h(X).
//     q is the cotangent of u, and is written Q in formulas. The method Gate of a block computes q from v. A
//     vector-Jacobian product computes the cotangent of an argument from the cotangent of the result.
//   - The method Linearize of a block computes u. It also returns the tape: the list of the intermediate results that
//     the derivative needs. PullX reads the tape and computes the cotangent of X. PullW computes the cotangents of the
//     trainable weights. PullX also returns the intermediate results that PullW can use again. We say that PullX shares
//     them with PullW.
//   - A loop body is the part of the compiled program that a loop repeats. The methods of blocks run in loop bodies. In
//     a loop body, a method may use only its arguments, and functions of package loop replace some operations of GoMLX.
//   - ∘ multiplies two matrices entry by entry.
//
// "The paper" is that of Park, Heo and Kim (ICML 2024).
package layers
