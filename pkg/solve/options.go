package solve

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// Options are the settings of the fixed-point iterations.
type Options struct {
	// Tolerance says when a solve of Z = Y - h(Z) ends: when the mean absolute change of Z in an iteration is below
	// Tolerance (in the paper 1e-4 to 1e-6). If the mean absolute value of Y exceeds 1, Tolerance is multiplied by this
	// mean.
	//
	// The tolerance of an adjoint solve is [AdjointFactor] times Tolerance, multiplied by the mean absolute value of
	// the right-hand side. To find the cotangent λ, an adjoint solve iterates q = σ'(u) ∘ λ, where u is the layer's
	// preactivation and σ its activation. The solve ends when the mean absolute change of q in an iteration is below
	// the tolerance. It may end earlier if convergence is fast, or if the next layer's solve corrects the error that is
	// left.
	Tolerance float64
	// MaxIterations is the largest number of iterations of a solve (the paper's M). AdjointIterations is the largest
	// number of iterations of an adjoint solve. If AdjointIterations is 0, this number is MaxIterations.
	MaxIterations, AdjointIterations int
	// Order is the number of earlier layers from which the start of a solve is extrapolated. The start is Z = Y - σ(U),
	// where U is an estimate of the layer's preactivation. A polynomial in the number of the layer passes through the
	// preactivations of the last Order layers, and U is its value at this layer. The estimate is good since
	// preactivations change smoothly from layer to layer. (States change less smoothly, since an activation such as
	// ReLU may be zero in one layer and not in the next.) With Order 0, solves start from Y, as in the paper. In chains
	// of [PerLayer], solves always start from Y.
	Order int
}

// AdjointFactor times Tolerance is the tolerance of adjoint solves. This tolerance is relative: it is multiplied by the
// mean absolute value of the right-hand side. Tolerance itself is absolute. Features are seldom larger than 0.1 on
// average, so that an absolute error of Tolerance is a relative error of 10 times Tolerance or more. With a factor of
// 10, gradients are therefore computed about as precisely as states.
const AdjointFactor = 10

// DefaultOrder is the value of [Options].Order that the models of revgnn use. The functions of this package do not set
// it: if Order is 0, solves start from Y. See docs/notes/2026-11-solving.md for measurements.
const DefaultOrder = 3

// Stats describes how the solves of a chain, or the steps of an integration, went. Its fields are scalars of the GoMLX
// computation. For reverse chains, AdjointIterations and AdjointResidual are nil until the gradient of the chain has
// been built.
type Stats struct {
	// Iterations is the number of iterations of all layers' solves together. AdjointIterations is the number of
	// iterations of all adjoint solves together. Both are of type int32. For integrations, see [Integrate].
	Iterations, AdjointIterations *Node
	// Residual is the largest residual of any layer. The residual of a layer is the mean absolute change of Z in the
	// last iteration of its solve. If the mean absolute value of Y, the right-hand side, exceeds 1, the residual is
	// divided by this mean. Layer is the number of the layer with the largest residual. Layers are counted from 0, in
	// the order in which the chain inverts them. AdjointResidual is the largest residual of any adjoint solve, relative
	// to the right-hand side of the adjoint equation.
	Residual, Layer, AdjointResidual *Node
	// Outcome, an int32, is for integrations: [Reached], or the reason why the integration has no valid result. For
	// chains it is always [Reached].
	Outcome *Node
}
