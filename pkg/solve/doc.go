// Package solve runs residual layers f(X) = X + h(X) forwards and backwards, and differentiates through both. It knows
// nothing of graphs: a [Block] is any h with a hand-written derivative.
//
// [ForwardChain] applies f, [ReverseChain] its inverse g = f^-1, depth times with shared weights. The inverse is the fixed point of
// Z = Y - h(Z) (Algorithm 1 of the paper; Behrmann et al., ICML 2019), which exists and is unique when Lip(h) < 1.
//
// Gradients need no stored iterates:
//
//   - Implicit differentiation. For Z = g(Y) and a cotangent v of Z, the cotangent of Y solves λ = v - J_h(Z)^T λ, the same
//     kind of iteration (Bai, Kolter and Koltun, NeurIPS 2019), and that of the weights is -(∂h/∂W)^T λ.
//   - The chain rewinds itself. From Z = g(Y) the layer's input is Y = Z + h(Z), one explicit evaluation.
//   - Solves start close to their solutions: from the preactivations of the last layers, extrapolated, and J_h^T λ of the last one.
//   - What an adjoint solve's last iteration still changed is multiplied in the next layer, together with that layer's iterate.
//
// So the memory of the reverse chain and of its backward pass depends neither on depth nor on the number of iterations. The
// forward chain keeps about sqrt(depth) states and recomputes the others.
//
// [ReverseChainUnrolled] differentiates through the iterations instead, as the authors' code does: for comparison, at a cost in
// memory and compile time that grows with depth times iterations.
//
// [Integrate] solves dx/dt = f(t, x; w) for any [Field], forwards or backwards in time, by an explicit Runge-Kutta [Method]:
// [Euler], [RK4], or [Dopri5] with step-size control; of a [LinearField], steps are polynomials by Horner's rule. Its gradient is that of the steps taken; about 2 sqrt(steps) states
// are kept. (A field could be integrated back to save these too, but a diffusion run backwards amplifies rounding errors.)
package solve
