package solve

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// Options of the fixed-point iterations.
type Options struct {
	// Tolerance ends a solve when the mean absolute difference of two iterates falls below it (paper: 1e-4 … 1e-6),
	// times the mean absolute value of the right-hand side where that exceeds 1. An adjoint solve for λ iterates σ' ∘
	// λ. It ends when the mean absolute change of σ' ∘ λ, or twice its expected mean absolute error, falls below
	// [AdjointFactor] times Tolerance, relative to the mean absolute right-hand side. If the next layer's solve
	// corrects the error, the expected error is the one left after this correction.
	Tolerance float64
	// MaxIterations limits every solve (the paper's M), and AdjointIterations every adjoint solve (0: as
	// MaxIterations).
	MaxIterations, AdjointIterations int
	// Order is the number of earlier layers from which the start of a solve is extrapolated. The start is Z = Y -
	// σ(U). U is the value, at this layer, of the polynomial through the preactivations of the earlier layers. The
	// reverse process is smooth over layers, and preactivations are smoother than states, which have kinks where an
	// activation sets in. 0 starts from the right-hand side, as the paper does; chains of [PerLayer] always do.
	Order int
}

// AdjointFactor times Tolerance is the tolerance of adjoint solves. It is relative, while Tolerance is absolute.
// Features are seldom larger than 0.1 on average, so that with a factor of 10 gradients are computed as precisely as
// states.
const AdjointFactor = 10

// DefaultOrder of the extrapolated start; see docs/notes/2026-11-solving.md for measurements.
const DefaultOrder = 3

// Stats tells how the solves went. Its nodes are scalars of the graph. AdjointIterations and AdjointResidual are nil
// until the gradient is built.
type Stats struct {
	// Iterations and AdjointIterations are int32 totals over all layers.
	Iterations, AdjointIterations *Node
	// Residual is the largest residual of any layer, divided by the mean absolute right-hand side where that exceeds
	// 1. Layer is the step of the chain with this residual, counted from 0. AdjointResidual is the largest residual of
	// any adjoint solve, relative to the right-hand side.
	Residual, Layer, AdjointResidual *Node
	// Outcome, an int32, is [Reached], or the reason why an integration has no valid result. For fixed-point solves it
	// is always [Reached].
	Outcome *Node
}
