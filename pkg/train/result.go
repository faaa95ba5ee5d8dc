package train

import (
	"encoding/json"
	"math"
)

// These are the statuses with which a training ends.
const (
	OK          = "ok"
	Diverged    = "diverged"
	Interrupted = "interrupted"
	// Paused is a training that stopped at [Options].Until.
	Paused = "paused"
)

// Number is a float64 that is null in JSON where it is NaN or infinite, as after a divergence.
type Number float64

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) {
	if f := float64(n); math.IsNaN(f) || math.IsInf(f, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// UnmarshalJSON implements json.Unmarshaler: null is NaN.
func (n *Number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	return json.Unmarshal(b, (*float64)(n))
}

// Epoch holds what is known after one epoch. Val and Test are the metrics of the parameters after that epoch's step.
// Test is for curves only: nothing is chosen by it.
type Epoch struct {
	Epoch   int     `json:"epoch"`
	Epochs  int     `json:"-"`
	Loss    Number  `json:"loss"`
	Val     Number  `json:"val"`
	Test    Number  `json:"test"`
	BestVal Number  `json:"-"`
	Seconds float64 `json:"seconds"`
	// Iterations are those of the epoch's step, and Residual is the largest residual of its solves. Both are zero
	// without a reverse process.
	Iterations Iterations `json:"iterations,omitzero"`
	Residual   Number     `json:"residual,omitempty"`
}

// Iterations are mean numbers of iterations per reverse layer: of the solves (Solve) and of the adjoint solves
// (Adjoint). For a diffusion (GRAND), Solve is the number of evaluations of the right-hand side of its equation, in
// both directions of time together, and Adjoint is the number of vector-Jacobian products with this right-hand side.
type Iterations struct {
	Solve   float64 `json:"solve"`
	Adjoint float64 `json:"adjoint"`
}

// Result is the result of a training on one split.
type Result struct {
	Split int    `json:"split"`
	Seed  uint64 `json:"seed"`
	// Epochs is the number of epochs that were run. BestEpoch is the epoch whose parameters were kept: the first one
	// with the best validation metric.
	Epochs    int    `json:"epochs"`
	BestEpoch int    `json:"best_epoch"`
	Val       Number `json:"val"`
	Test      Number `json:"test"`
	// Seconds is the total time. EpochSeconds is the median time of a step, without the first one. CompileSeconds is
	// the time to build and compile the step.
	Seconds        float64 `json:"seconds"`
	EpochSeconds   float64 `json:"epoch_seconds"`
	CompileSeconds float64 `json:"compile_seconds"`
	// Threads is the number of threads that the engine computed on; 0 if results do not depend on it
	// ([engine.Engine.Threads]).
	Threads int `json:"threads,omitempty"`
	// PeakRSS is the largest resident memory of the process so far, in bytes.
	PeakRSS int64 `json:"peak_rss_bytes"`
	// PredictedBytes is the peak memory that was predicted when the programs were compiled, before they ran: the memory
	// of the process at that time plus that of the programs, as the compiler reports it. It is 0 if the compiler
	// reports none.
	PredictedBytes int64      `json:"predicted_bytes"`
	Iterations     Iterations `json:"iterations"`
	// Residual is the largest residual (see solve.Stats) of any solve in the last epoch. ResidualLayer is the layer
	// with this residual. AdjointResidual is the largest residual of any adjoint solve, relative to its right-hand
	// side.
	Residual        Number `json:"residual"`
	ResidualLayer   int    `json:"residual_layer"`
	AdjointResidual Number `json:"adjoint_residual"`
	Status          string `json:"status"`
	// Message says in a sentence what went wrong, if anything did.
	Message string `json:"message,omitempty"`

	// History has all epochs. Logits are the logits with the kept parameters, row-major [nodes, outputs], with the
	// nodes in the graph's order. Weights are the kept parameters by name.
	History []Epoch          `json:"-"`
	Logits  []float32        `json:"-"`
	Outputs int              `json:"-"`
	Weights map[string]Array `json:"-"`
}

// Array is a named parameter's value, row-major.
type Array struct {
	Shape  []int
	Values []float32
}
