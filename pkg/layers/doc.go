// Package layers holds the branches h of message-passing layers X + h(X), with derivatives written by hand. It also
// holds the bound on the Lipschitz constant of h, which makes the layers invertible, and the attention and the
// diffusion of GRAND.
//
// Most branches implement solve.Block. The comments on their methods use these terms:
//
//   - X is the state, u the preactivation, h the result of the activation, and w the list of the weights.
//   - The cotangent of an array is the gradient of the loss with respect to it. v is the cotangent of h, and q or Q is
//     the cotangent of u.
//   - The tape is the list of the intermediate results that the derivative needs. "Linearize keeps" says what is on it.
//   - A place is a position at which a sparse matrix stores an entry (an edge) or padding: see [sparse.Pattern.Places].
//   - ∘ multiplies two matrices entry by entry.
package layers
