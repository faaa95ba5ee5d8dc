package solve

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// Options of the fixed-point iterations.
type Options struct {
	// Tolerance ends a solve when the mean absolute difference of two iterates falls below it (paper: 1e-4 … 1e-6),
	// times the mean absolute value of the right-hand side where that exceeds 1. An adjoint solve for λ iterates σ' ∘
	// λ. It ends when the mean absolute change of σ' ∘ λ, or twice its expected mean absolute error, falls below
	// [AdjointFactor] times Tolerance, relative to the mean absolute right-hand side. The expected error is that after
	// the correction in the next layer, where there is one.
	Tolerance float64
	// MaxIterations limits every solve (the paper's M), and AdjointIterations every adjoint solve (0: as
	// MaxIterations).
	MaxIterations, AdjointIterations int
	// Order is the number of earlier layers that the start of a solve is extrapolated from: the start is Z = Y - σ(U),
	// where U is the value, at this layer, of the polynomial through those layers' preactivations. The reverse process
	// is smooth over layers, and preactivations are smoother than states, which have kinks where an activation sets
	// in. 0 starts from the right-hand side, as the paper does; chains of [PerLayer] always do.
	Order int
}

// AdjointFactor times Tolerance is the adjoint solve's tolerance. It is relative, while Tolerance is absolute: as
// features are seldom larger than 0.1 on average, the gradient is computed as precisely as the states.
const AdjointFactor = 10

// DefaultOrder of the extrapolated start; see docs/notes/2026-11-solving.md for measurements.
const DefaultOrder = 3

// Stats tells how the solves went. Its nodes are scalars of the graph; those of the adjoint solves are nil until the
// gradient is built.
type Stats struct {
	// Iterations and AdjointIterations are int32 totals over all layers.
	Iterations, AdjointIterations *Node
	// Residual is the largest residual of any layer, divided as the tolerance is, and Layer the step that had it, from
	// 0; AdjointResidual is the same for the adjoint solves.
	Residual, Layer, AdjointResidual *Node
	// Outcome of an integration, [Reached] or a reason why its result means nothing, int32; [Reached] for fixed-point
	// solves.
	Outcome *Node
}
