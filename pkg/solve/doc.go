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
// Invert stores no iterates. Its gradient is implicit: with the gradient v of the loss by Z (the cotangent of Z), the
// cotangent λ of Y solves λ = v - J_h(Z)^T λ, by the same kind of iteration (Bai, Kolter and Koltun, NeurIPS 2019), and
// that of the weights is -(∂h/∂W)^T λ. And the chain rewinds itself: a layer with the result Z had the input Y = Z +
// h(Z). So its memory depends neither on depth nor on the number of iterations (but see [Keeps]).
//
// With shared weights, solves for Z start from an extrapolation of the last layers' preactivations, those for λ from
// the product J_h^T λ of the layer before.
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
// A state is what layers and steps change. The cotangent of a value is the gradient of the loss by it. A tape is what a
// function computes and its derivative reads. A stack is an array [count, …] of values of one shape. A leg is a chain
// of layers or the steps of one integration; a checkpoint is a state of it that is kept, and a segment the steps from
// one checkpoint to the next. ∘ multiplies entry by entry; x_l+1 is x with the index l+1.
package solve
