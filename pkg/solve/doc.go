// Package solve runs residual layers f(X) = X + h(X) forwards and backwards, and differentiates through both. It knows
// nothing of graphs: a [Block] is any h with its derivative.
//
// # Layers
//
// [ForwardChain] applies f depth times, and [ReverseChain] its inverse g = f^-1. All layers share their weights or,
// for a block made by [PerLayer], each has its own: f^(L)∘…∘f^(1) and g^(1)∘…∘g^(L). The inverse is the fixed point of
// Z = Y - h(Z) (Algorithm 1 of the paper; Behrmann et al., ICML 2019), which exists and is unique when Lip(h) < 1.
//
// Gradients need no stored iterates:
//
//   - Implicit differentiation. For Z = g(Y) and the cotangent v of Z, the cotangent λ of Y solves λ = v - J_h(Z)^T λ,
//     by the same kind of iteration (Bai, Kolter and Koltun, NeurIPS 2019), and the cotangent of the weights is
//     -(∂h/∂W)^T λ.
//   - The chain rewinds itself. From Z = g(Y) the layer's input is Y = Z + h(Z), one explicit evaluation.
//   - With shared weights, solves start close to their solutions: forward solves from an extrapolation of the last
//     layers' preactivations, adjoint solves from the last layer's J_h^T λ. What the last iteration of an adjoint
//     solve changed is multiplied by the Jacobian in the next layer, together with that layer's first iterate.
//
// So the memory of the reverse chain and of its backward pass depends neither on depth nor on the number of
// iterations. The forward chain keeps about sqrt(depth) states and recomputes the others.
//
// [ReverseChainUnrolled] differentiates through the iterations instead, as the authors' code does. It is for
// comparison; its memory grows with depth plus iterations.
//
// # Blocks
//
// A [Block] is written by hand where speed matters, in seven methods; [FromVJP] makes one out of h and its
// vector-Jacobian product, and [FromFunction] out of h alone. [Scan] is for layers that are not inverted, x_l+1 = f(l,
// x_l; w_l). Like the forward chain, it compiles the layer once; it differentiates the layer automatically, and
// [ScanVJP] by a derivative that it is given.
//
// # Differential equations
//
// [Integrate] solves dx/dt = f(t, x; w) for any [Field], forwards or backwards in time, by an explicit Runge-Kutta
// [Method]: [Euler], [RK4], or [Dopri5] with step-size control. For a [LinearField], steps are polynomials, computed
// by Horner's rule. The gradient is that of the steps taken; about 2 sqrt(steps) states are kept. (Integrating the
// field backwards would save these, but a diffusion run backwards amplifies rounding errors.)
package solve
