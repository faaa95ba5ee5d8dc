// Package layers holds the branches h of message-passing layers f(X) = X + h(X), with derivatives written by hand. It
// also holds the bound on the weights that makes h a contraction, so that f has an inverse, and the attention and the
// differential equation of GRAND.
//
// Most branches implement solve.Block, the interface of a function h with its derivatives. The comments use these
// terms:
//
//   - X is the state: the features of the n nodes of the graph, [n, d]. (The type *Node is a value in a GoMLX
//     computation, not a node of the graph.) u is the preactivation, and σ the activation.
//   - w is the list of the arrays that a block reads: first the trainable weights, then the others, such as the arrays
//     of indices that describe a sparse matrix. These arrays are called the tensors of the matrix.
//   - A [sparse.Pattern] is a sparse matrix without its entries: it says only which edges there are. A place is a
//     position at which a sparse matrix stores an entry (an edge) or padding, so that values of edges have shape
//     [places, 1].
//   - The cotangent of an array is the gradient of the loss with respect to this array. v is the cotangent of h(X), and
//     q or Q is the cotangent of u. A vector-Jacobian product computes the cotangent of an argument from the cotangent
//     of the result.
//   - Linearize computes u. It also returns the tape: the list of the intermediate results that the derivative needs.
//     "Linearize keeps" says what is on the tape. PullX reads the tape and computes the cotangent of X. PullW computes
//     the cotangents of the trainable weights. PullX also returns what it shares with PullW: results that PullW can use
//     again.
//   - A loop body is the part of the compiled program that a loop repeats. The methods of blocks run in loop bodies.
//     There, they may use nothing but their arguments, and functions of package loop replace some operations of GoMLX.
//   - ∘ multiplies two matrices entry by entry.
//
// "The paper" is that of Park, Heo and Kim (ICML 2024).
package layers
