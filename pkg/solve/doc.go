// Package solve runs residual layers f(X) = X + h(X) forwards and backwards, integrates differential equations, and has
// the gradients of both. It knows nothing of graphs: h is any function of a state X, [n, d], and of weights.
//
// # Layers
//
// A [Layer] is h; [FromFunction] makes one of a Go function. [Forward] applies f depth times. [Invert] applies the
// inverse g = f^-1 depth times: Z = g(Y) solves Z = Y - h(Z) by fixed-point iteration (Algorithm 1 of the paper;
// Behrmann et al., ICML 2019), which has one solution if Lip(h) < 1. Layers share their weights, unless [PerLayer]
// makes them.
//
// Invert stores no iterates:
//
//   - Its gradient is implicit. With v, the gradient of the loss by Z (the cotangent of Z), the cotangent λ of Y solves
//     λ = v - J_h(Z)^T λ, by the same kind of iteration (Bai, Kolter and Koltun, NeurIPS 2019). The cotangent of the
//     weights is -(∂h/∂W)^T λ.
//   - The chain rewinds itself: a layer with the result Z had the input Y = Z + h(Z), one evaluation of h.
//
// So its memory depends neither on depth nor on the number of iterations (but see [Keeps]). File reverse.go has the
// solves, adjoint.go the gradient.
//
// With shared weights, iterations start close to the solution: those for Z from an extrapolation of the last layers'
// preactivations, those for λ from the product J_h^T λ of the layer before.
//
// [Scan] is for layers that are not inverted, x_l+1 = f(l, x_l), compiled once whatever the depth.
//
// # Differential equations
//
// [Integrate] solves dx/dt = f(t, x; w) for any [Field] f, forwards or backwards in time, by an explicit Runge-Kutta
// [Method]: [Euler], [RK4], or [Dopri5], which chooses its step sizes. For a [LinearField], a step is a polynomial in
// the linear operator. The gradient is that of the computed steps; states that were not kept are computed again.
//
// # Terms
//
// A state is what layers and steps change. The cotangent of a value is the gradient of the loss by it. A tape is a list
// of arrays that a function computes and its derivative reads. A stack is an array [count, …] of values of one shape,
// at places 0 … count-1. A leg is a chain of layers or the steps of one integration; a checkpoint is a state of it that
// is kept for the backward pass, and a segment the steps from one checkpoint to the next. The slopes of a Runge-Kutta
// step are the values of f at its stages. ∘ multiplies arrays entry by entry; x_l+1 is x with the index l+1.
package solve
