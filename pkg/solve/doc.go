// Package solve runs residual layers f(X) = X + h(X) forwards and backwards, integrates differential equations, and
// computes the gradients of both. It does not deal with graphs: a [Block] is any function h with its derivative.
//
// The cotangent of a value is the derivative of the loss with respect to this value. A vector-Jacobian product takes
// the cotangent of a function's result and returns the cotangent of an argument. J_h(Z) is the Jacobian of h at Z. The
// operator ∘ multiplies two arrays entry by entry. (Between functions it means composition, as in f∘f.) An index may be
// a sum or a difference: x_l+1 is x with the index l+1, and r_s-k is r with the index s-k.
//
// # Layers
//
// [ForwardChain] applies f several times, and [ReverseChain] applies the inverse g = f^-1 several times. The depth is
// the number of layers, which is how often f or g is applied. All layers share their weights, unless the block is made
// by [PerLayer]. With PerLayer each layer has its own weights, and the chains are f^(L)∘…∘f^(1) and g^(1)∘…∘g^(L). The
// value Z = g(Y) is the solution of Z = Y - h(Z), found by fixed-point iteration (Algorithm 1 of the paper; Behrmann et
// al., ICML 2019). The solution exists and is unique if Lip(h) < 1.
//
// The gradients of [ReverseChain] need no stored iterates:
//
//   - Implicit differentiation. Let Z = g(Y), and let v be the cotangent of Z. The cotangent λ of Y is the solution of
//     the adjoint equation λ = v - J_h(Z)^T λ. λ is found by fixed-point iteration as well (Bai, Kolter and Koltun,
//     NeurIPS 2019). The cotangent of the weights is -(∂h/∂W)^T λ.
//   - The backward pass recomputes the inputs of layers. A layer with the result Z = g(Y) had the input Y = Z + h(Z).
//     To compute this input takes one evaluation of h.
//   - With shared weights, solves start close to their solutions. A solve for Z starts from an extrapolation of the
//     last layers' preactivations. An adjoint solve starts from the product J_h^T λ of the adjoint solve before it. An
//     adjoint solve also leaves its last multiplication by J_h^T to the next solve, which saves an iteration per layer;
//     see the source of pullBack.
//
// So the memory of the reverse chain and of its backward pass depends neither on depth nor on the number of iterations.
// (Deviation: see [Keeps].) The forward chain keeps all states if they are small. Otherwise it keeps about 2
// sqrt(depth) states, and recomputes the others.
//
// [ReverseChainUnrolled] differentiates through the iterations instead, as the authors' code does. It is for
// comparison. Its memory grows with the depth plus the number of iterations.
//
// # Blocks
//
// A [Block] is an interface of seven methods. Implementing it by hand gives the fastest code. [FromVJP] makes a block
// from h and its vector-Jacobian products, and [FromFunction] from h alone.
//
// [Scan] is for layers that are not inverted, x_l+1 = f(l, x_l; w_l). Like the forward chain, it compiles the layer
// once. [Scan] differentiates the layer automatically, whereas [ScanVJP] is given the derivative.
//
// # Differential equations
//
// [Integrate] solves dx/dt = f(t, x; w) for any [Field] f, forwards or backwards in time. It takes steps by an explicit
// Runge-Kutta [Method]: [Euler], [RK4], or [Dopri5], which chooses its step sizes. For a [LinearField], a step is a
// polynomial in the linear operator, computed by Horner's rule. The gradient is that of the computed steps. To compute
// it, all states are kept if they are small. Otherwise about 2 sqrt(steps) states are kept, and the others are
// recomputed. (The states could also be recomputed by integrating backwards in time, without keeping any. But a
// diffusion that runs backwards amplifies rounding errors.)
//
// # Terms
//
// These terms are used in all files:
//
//   - The state is what layers and steps change: X, Y or Z, [n, d]. (The state of a loop or of a solve is something
//     else: all the values that an iteration changes.) The preactivation u(X) is what the activation σ is applied to:
//     h(X) = σ(u(X)).
//   - A solve is the fixed-point iteration for one layer. Its right-hand side is Y in Z = Y - h(Z), or v in the adjoint
//     equation. Its iterates are the approximations of the solution. Its residual is an estimate of the error that is
//     left, mostly the mean absolute change of the iterate in the last iteration.
//   - The trainable weights are those that receive gradients.
//   - A tape is a list of arrays that a function computes and its derivative reads.
//   - A stack is an array [count, …] that holds values of one shape, such as the states of all layers. The positions in
//     a stack are called places.
//   - A leg is a sequence of steps: the layers of one chain, or the steps of one integration. A checkpoint is a state
//     that is kept for the backward pass. A segment consists of the steps from one checkpoint to the next.
//   - A step of a Runge-Kutta method evaluates the field f several times. Each evaluation is a stage. A value of the
//     field is called a slope. The size of a step is called h, like the branch of a layer.
package solve
