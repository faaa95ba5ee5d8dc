package train

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/safetensors"
)

// These are the statuses with which a training ends.
const (
	OK          = "ok"
	Diverged    = "diverged"
	Interrupted = "interrupted"
	// Paused is the status of a training that [Options].Until has paused.
	Paused = "paused"
)

// Number is a float64 that is null in JSON if it is NaN or infinite, as in a training that diverged.
type Number float64

func (n Number) MarshalJSON() ([]byte, error) {
	if f := float64(n); math.IsNaN(f) || math.IsInf(f, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// UnmarshalJSON reads null as NaN.
func (n *Number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	return json.Unmarshal(b, (*float64)(n))
}

// Epoch has the results of one epoch, counted from 1; Epochs is the most that the training has. Val and Test are the
// metrics after the epoch's step, BestVal the best validation metric so far. Nothing is chosen by Test.
type Epoch struct {
	Epoch   int     `json:"epoch"`
	Epochs  int     `json:"-"`
	Loss    Number  `json:"loss"`
	Val     Number  `json:"val"`
	Test    Number  `json:"test"`
	BestVal Number  `json:"-"`
	Seconds float64 `json:"seconds"`
	// Iterations, per reverse layer, and Residual, the largest, are those of the epoch's solves. Of models without a
	// reverse process, only GRAND has some (see [Iterations]).
	Iterations Iterations `json:"iterations,omitzero"`
	Residual   Number     `json:"residual,omitempty"`
}

// Iterations are mean numbers of iterations per reverse layer, in solves and in adjoint solves. For GRAND, they are the
// evaluations of the field in both directions together, and its vector-Jacobian products.
type Iterations struct {
	Solve   float64 `json:"solve"`
	Adjoint float64 `json:"adjoint"`
}

// Result is the result of a training on one split.
type Result struct {
	Split int    `json:"split"`
	Seed  uint64 `json:"seed"`
	// Epochs is the number of epochs that were run; Val and Test are the metrics after the best one.
	Epochs    int      `json:"epochs"`
	BestEpoch int      `json:"best_epoch"`
	Val       Number   `json:"val"`
	Test      Number   `json:"test"`
	Measures  Measures `json:"measures,omitzero"` // none without a best epoch
	// EpochSeconds is the median of the steps but the first, CompileSeconds the time to compile the step.
	Seconds        float64 `json:"seconds"`
	EpochSeconds   float64 `json:"epoch_seconds"`
	CompileSeconds float64 `json:"compile_seconds"`
	// Threads is that of the engine, or 0 if results do not depend on it ([engine.Engine.Threads]).
	Threads int `json:"threads,omitempty"`
	// PeakRSS is the peak of the process's memory (resident set size), in bytes. PredictedBytes predicts it before the
	// first step, from what the compiler reports, or is 0.
	PeakRSS        int64      `json:"peak_rss_bytes"`
	PredictedBytes int64      `json:"predicted_bytes"`
	Iterations     Iterations `json:"iterations"`
	// Residual is the largest residual of the last epoch's solves, and ResidualLayer its reverse layer, from 0.
	// AdjointResidual is that of the adjoint solves, relative to their right-hand sides (docs/concepts.md).
	Residual        Number `json:"residual"`
	ResidualLayer   int    `json:"residual_layer"`
	AdjointResidual Number `json:"adjoint_residual"`
	Status          string `json:"status"`
	// Message says what went wrong, or is empty.
	Message string `json:"message,omitempty"`

	// Began is kept by a training that goes on from a checkpoint: it tells whether two results are of the same
	// training.
	Began time.Time `json:"-"`
	// Weights and Logits, [nodes, Outputs] row by row, are those of the best epoch.
	History []Epoch          `json:"-"`
	Logits  []float32        `json:"-"`
	Outputs int              `json:"-"`
	Weights map[string]Array `json:"-"`
	// Prepared is the preparation of the table that the model reads, or nil.
	Prepared *graphs.Prepared `json:"-"`
}

// Array is the value of a variable, row by row.
type Array = safetensors.Array

func none(mask []bool) bool { return !slices.Contains(mask, true) }

// listed names weights for an error message.
func listed(weights map[string]Array) string {
	if len(weights) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(weights)), ", ")
}
