package train

import (
	"encoding/json"
	"math"
	"time"
)

// These are the statuses with which a training ends.
const (
	OK          = "ok"
	Diverged    = "diverged"
	Interrupted = "interrupted"
	// Paused is the status of a training that [Options].Until has paused.
	Paused = "paused"
)

// Number is a float64 that is written as null in JSON if it is NaN or infinite. A result may have NaN and infinite
// numbers if the training diverged.
type Number float64

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) {
	if f := float64(n); math.IsNaN(f) || math.IsInf(f, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// UnmarshalJSON implements json.Unmarshaler. It reads null as NaN.
func (n *Number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	return json.Unmarshal(b, (*float64)(n))
}

// Epoch has the results of one epoch. The field Epoch is the number of this epoch, counted from 1. The field Epochs is
// the setting that says how many epochs the training has at most. Val is the validation metric and Test is the test
// metric, both with the parameters after the epoch's step. BestVal is the best validation metric so far. Test is only
// for drawing curves: the training chooses nothing by it.
type Epoch struct {
	Epoch   int     `json:"epoch"`
	Epochs  int     `json:"-"`
	Loss    Number  `json:"loss"`
	Val     Number  `json:"val"`
	Test    Number  `json:"test"`
	BestVal Number  `json:"-"`
	Seconds float64 `json:"seconds"`
	// Iterations are the mean numbers of iterations per reverse layer in the epoch's step, and Residual is the largest
	// residual of the step's solves. Both are zero if the model has no reverse process. Plain GRAND is an exception:
	// its Iterations are not zero (see the type [Iterations]).
	Iterations Iterations `json:"iterations,omitzero"`
	Residual   Number     `json:"residual,omitempty"`
}

// Iterations are mean numbers of iterations per reverse layer: Solve counts the iterations of solves, and Adjoint those
// of adjoint solves.
//
// GRAND has no solves, but integrates the differential equation dX/dt = F(X). For GRAND, Solve is the number of
// evaluations of F, in the forward and in the reverse part together. Adjoint is the number of vector-Jacobian products
// of F, with which the gradient is computed.
type Iterations struct {
	Solve   float64 `json:"solve"`
	Adjoint float64 `json:"adjoint"`
}

// Result is the result of a training on one split.
type Result struct {
	Split int    `json:"split"`
	Seed  uint64 `json:"seed"`
	// Epochs is the number of epochs that were run. BestEpoch is the first epoch with the best validation metric. Val
	// and Test are the metrics after the best epoch.
	Epochs    int    `json:"epochs"`
	BestEpoch int    `json:"best_epoch"`
	Val       Number `json:"val"`
	Test      Number `json:"test"`
	// Seconds is the time of the whole training. EpochSeconds is the median time of a training step, without the first
	// step. CompileSeconds is the time to build and to compile the training step.
	Seconds        float64 `json:"seconds"`
	EpochSeconds   float64 `json:"epoch_seconds"`
	CompileSeconds float64 `json:"compile_seconds"`
	// Threads is the number of threads on which the engine computed. It is 0 if results do not depend on the number of
	// threads (see [engine.Engine.Threads]).
	Threads int `json:"threads,omitempty"`
	// PeakRSS is the largest amount of main memory that the process has used at one time, in bytes (resident set size).
	PeakRSS int64 `json:"peak_rss_bytes"`
	// PredictedBytes is a prediction of PeakRSS. It is made before the first training step, from the memory that the
	// compiler reports for the training's programs. It is 0 if the compiler reports nothing.
	PredictedBytes int64      `json:"predicted_bytes"`
	Iterations     Iterations `json:"iterations"`
	// Residual is the largest residual of all solves in the last epoch. ResidualLayer is the number of the reverse
	// layer that has this residual; layers are counted from 0. AdjointResidual is the largest residual of all adjoint
	// solves in the last epoch, relative to the right-hand side of the adjoint equation (docs/concepts.md).
	Residual        Number `json:"residual"`
	ResidualLayer   int    `json:"residual_layer"`
	AdjointResidual Number `json:"adjoint_residual"`
	Status          string `json:"status"`
	// Message says in a sentence what went wrong. It is empty if nothing went wrong.
	Message string `json:"message,omitempty"`

	// Began is the time at which the training began. A training that goes on from a checkpoint keeps the time of its
	// first part. So it tells whether two results are of the same training.
	Began time.Time `json:"-"`
	// History has an entry for each epoch. Weights are the weights after the best epoch. Logits are the logits that the
	// model computes with these weights. Outputs is the number of logits of each node. Logits has the logits of node 0
	// first, then those of node 1, and so on.
	History []Epoch          `json:"-"`
	Logits  []float32        `json:"-"`
	Outputs int              `json:"-"`
	Weights map[string]Array `json:"-"`
}

// Array is the value of a variable. Values lists the entries row by row.
type Array struct {
	Shape  []int
	Values []float32
}
