package solve

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// Options of the fixed-point iterations.
type Options struct {
	// Tolerance ends a solve when the mean absolute difference of two iterates falls below it (paper: 1e-4 … 1e-6),
	// times the mean absolute value of the right-hand side where that exceeds 1. An adjoint solve for λ ends when
	// that difference, or twice the expected mean absolute error, of σ' ∘ λ falls below [AdjointFactor] times
	// Tolerance, relative to that of its right-hand side. The error counted is that which is left by the correction
	// in the next layer.
	Tolerance float64
	// MaxIterations limits every solve (the paper's M), and AdjointIterations every adjoint solve (0: as
	// MaxIterations).
	MaxIterations, AdjointIterations int
	// Order is the number of earlier layers that each solve starts from: from Z = Y - σ(U), where U is the value, at
	// the layer, of the polynomial through their preactivations. The reverse process is smooth over layers, and
	// preactivations are smoother than states, which have kinks where an activation sets in. 0 starts from the
	// right-hand side, as the paper does, and as chains of [PerLayer] always do.
	Order int
}

// AdjointFactor relates the adjoint's tolerance, which is relative, to the solve's, which is absolute: features are
// seldom larger than 0.1 on average, so that this asks no less of the gradient than of the states it belongs to.
const AdjointFactor = 10

// DefaultOrder of the extrapolated start; see docs/notes/2026-11-solving.md for measurements.
const DefaultOrder = 3

// Stats tells how the solves went. The nodes are scalars of the graph; the adjoint's are nil until the gradient is
// built.
type Stats struct {
	// Iterations and AdjointIterations are int32 totals over all layers.
	Iterations, AdjointIterations *Node
	// Residual is the largest residual of any layer, as compared with the tolerance, and Layer the step that left it,
	// from 0; AdjointResidual is the same of the adjoint solves.
	Residual, Layer, AdjointResidual *Node
	// Outcome of an integration, [Reached] or a reason why its result means nothing, int32; [Reached] for fixed-point
	// solves.
	Outcome *Node
}
