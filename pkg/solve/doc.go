// Package solve runs residual layers f(X) = X + h(X) forwards and backwards, and integrates differential equations. It
// also computes the gradients of the results. It does not deal with graphs: a [Block] is any function h with its
// derivative. The section Terms at the end explains words that all files use.
//
// The cotangent of a value is the derivative of the loss with respect to this value. A vector-Jacobian product takes
// the cotangent of a function's result and returns the cotangent of an argument. J_h(Z) is the Jacobian of h at Z. The
// operator ∘ multiplies two arrays entry by entry. (Between functions it means composition, as in f∘f.) Square brackets
// hold shapes: X, [n, d], has n rows and d columns. An index may be a sum or a difference: x_l+1 is x with the index
// l+1, and r_s-k is r with the index s-k.
//
// # Layers
//
// [ForwardChain] applies f several times, and [ReverseChain] applies the inverse g = f^-1 several times. The depth L is
// the number of layers, which is how often f or g is applied. All layers share their weights, unless the block is made
// by [PerLayer]. With PerLayer each layer has its own weights, and the chains are f^(L)∘…∘f^(1) and g^(1)∘…∘g^(L). The
// value Z = g(Y) is the solution of Z = Y - h(Z), found by fixed-point iteration (Algorithm 1 of the paper; Behrmann et
// al., ICML 2019). The solution exists and is unique if the Lipschitz constant of h is below 1.
//
// The results of the iterations are not stored, since the backward pass of [ReverseChain] does not need them:
//
//   - The backward pass solves an equation for each layer, which is called implicit differentiation. Let Z = g(Y), and
//     let v be the cotangent of Z. The cotangent λ of Y is the solution of the adjoint equation λ = v - J_h(Z)^T λ, and
//     is found by fixed-point iteration as well (Bai, Kolter and Koltun, NeurIPS 2019). The cotangent of the weights W
//     is -(∂h/∂W)^T λ.
//   - The backward pass recomputes the inputs of layers. A layer with the result Z = g(Y) had the input Y = Z + h(Z).
//     To compute this input takes one evaluation of h.
//
// So the memory of the reverse chain and of its backward pass depends neither on depth nor on the number of iterations.
// (Some chains nevertheless store the preactivations of all layers, to save time; see [Keeps].) The forward chain keeps
// all states if they take at most 64 MiB. Otherwise it keeps about 2 sqrt(depth) states, and recomputes the others.
//
// With shared weights, the iterations start close to the solution. The iteration for Z starts from an extrapolation of
// the last layers' preactivations. The iteration for λ starts from the product J_h^T λ of the layer differentiated
// before. It may also stop one step earlier than otherwise, since the iteration for the next layer corrects the error
// that is left; see the source of pullBack.
//
// [ReverseChainUnrolled] differentiates through the iterations instead, as the authors' code does. It is for
// comparison. Its memory grows with the sum of the depth and the number of iterations.
//
// # Blocks
//
// A [Block] is an interface of seven methods. Implementing it by hand gives the fastest code. [FromVJP] makes a block
// from h and its vector-Jacobian products, and [FromFunction] from h alone.
//
// [Scan] is for layers that are not inverted, x_l+1 = f(l, x_l; w_l), where l is the number of a layer and w_l are its
// weights. The layer is compiled once, whatever the depth, as in the forward chain. [Scan] differentiates the layer
// automatically, whereas [ScanVJP] is given the derivative.
//
// # Differential equations
//
// [Integrate] solves dx/dt = f(t, x; w) for any [Field] f, forwards or backwards in time. It takes steps by an explicit
// Runge-Kutta [Method]: [Euler], [RK4], or [Dopri5], which chooses its step sizes. For a [LinearField], a step is a
// polynomial in the linear operator, computed by Horner's rule. The gradient is that of the computed steps. The
// backward pass needs the state before each step. All states are kept if they take at most 64 MiB. Otherwise about 2
// sqrt(steps) states are kept, and the others are recomputed. (Integrating backwards in time would recompute the states
// without keeping any. But a diffusion that runs backwards amplifies rounding errors.)
//
// # Terms
//
// These terms are used in all files:
//
//   - The state is what layers and steps change: X, Y or Z, [n, d]. (The state of a loop or of a solve is something
//     else: all the values that an iteration changes.) The preactivation u(X) is what the activation σ is applied to:
//     h(X) = σ(u(X)).
//   - A solve is the fixed-point iteration for one layer. Its right-hand side is Y in Z = Y - h(Z), or v in the adjoint
//     equation. Its iterates are the approximations of the solution: each iteration computes the next iterate. Its
//     residual is an estimate of the error that is left, mostly the mean absolute change of the iterate in the last
//     iteration. A solve of the adjoint equation is called an adjoint solve.
//   - The trainable weights are those that receive gradients. A node is a value in a GoMLX computation.
//   - A tape is a list of arrays that a function computes and its derivative reads.
//   - A stack is an array [count, …] that holds values of one shape, such as the states of all layers. The positions in
//     a stack are called places.
//   - A leg is a sequence of steps: the layers of one chain, or the steps of one integration. A checkpoint is a state
//     that is kept for the backward pass. A segment consists of the steps from one checkpoint to the next.
//   - A step of a Runge-Kutta method evaluates the field f several times. Each evaluation is a stage. A value of the
//     field is called a slope. The size of a step is called h, like the branch of a layer.
package solve
