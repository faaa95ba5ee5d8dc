// Package solve runs residual layers f(X) = X + h(X) forwards and backwards, and differentiates through both. It knows
// nothing of graphs: a [Block] is any h with its derivative.
//
// # Layers
//
// [ForwardChain] applies f, [ReverseChain] its inverse g = f^-1, depth times, with weights that all layers share or,
// of a block made by [PerLayer], with weights of each layer's own: f^(L)∘…∘f^(1) and g^(1)∘…∘g^(L). The inverse is
// the fixed point of Z = Y - h(Z) (Algorithm 1 of the paper; Behrmann et al., ICML 2019), which exists and is unique
// when Lip(h) < 1.
//
// Gradients need no stored iterates:
//
//   - Implicit differentiation. For Z = g(Y) and a cotangent v of Z, the cotangent of Y solves λ = v - J_h(Z)^T λ, the
//     same kind of iteration (Bai, Kolter and Koltun, NeurIPS 2019), and that of the weights is -(∂h/∂W)^T λ.
//   - The chain rewinds itself. From Z = g(Y) the layer's input is Y = Z + h(Z), one explicit evaluation.
//   - With shared weights, solves start close to their solutions: from the preactivations of the last layers,
//     extrapolated, and J_h^T λ of the last one; and what an adjoint solve's last iteration still changed is
//     multiplied in the next layer, together with that layer's iterate.
//
// So the memory of the reverse chain and of its backward pass depends neither on depth nor on the number of
// iterations. The forward chain keeps about sqrt(depth) states and recomputes the others.
//
// [ReverseChainUnrolled] differentiates through the iterations instead, as the authors' code does: for comparison, at
// a cost in memory that grows with depth plus iterations.
//
// # Blocks
//
// A [Block] is written by hand where speed matters, in seven methods; [FromVJP] makes one out of h and its
// vector-Jacobian product, and [FromFunction] out of h alone. [Scan] is for layers that are not inverted,
// x_l+1 = f(l, x_l; w_l): like the forward chain, it compiles the layer once, and differentiates it by itself, unless
// [ScanVJP] is given the derivative.
//
// # Differential equations
//
// [Integrate] solves dx/dt = f(t, x; w) for any [Field], forwards or backwards in time, by an explicit Runge-Kutta
// [Method]: [Euler], [RK4], or [Dopri5] with step-size control; of a [LinearField], steps are polynomials by Horner's
// rule. Its gradient is that of the steps taken; about 2 sqrt(steps) states are kept. (A field could be integrated
// back to save these too, but a diffusion run backwards amplifies rounding errors.)
package solve
