package runs

import (
	"math"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/train"
)

// Trained is the outcome of a training.
type Trained struct {
	train.Result
	Metric string `json:"metric"`
	// Followed is nil if the task did not ask for states.
	Followed *Followed `json:"followed,omitempty"`
}

// Followed has a few numbers about states of a trained model, after forward and after reverse layers; whole states are
// too large for a record.
type Followed struct {
	Forward []Layer `json:"forward"`
	Reverse []Layer `json:"reverse,omitempty"`
	Boards  []Board `json:"boards,omitempty"`
}

// Layer describes the state after a number of layers: the smoothness of its features ([metrics.GSL]) and, for each of
// [Follow.Boards], the probability of a mine in each cell, which the model's head computes from this state.
type Layer struct {
	Layer  int          `json:"layer"`
	GSL    train.Number `json:"gsl"`
	Boards [][]float64  `json:"boards,omitempty"`
}

// Board is a part of a Minesweeper board: 1 for a mine and 0 for none, and the probability that the whole model gives.
type Board struct {
	Part
	Mines       []float64 `json:"mines"`
	Probability []float64 `json:"probability"`
}

// Timed is the outcome of a benchmark. IdleRSS is the resident set before it began, in bytes, or 0 if the process may
// have run other tasks before: its peak may then be of another task.
type Timed struct {
	train.Benchmark
	IdleRSS int64 `json:"idle_rss_bytes,omitempty"`
}

// Own returns the memory that the benchmark itself took, in bytes; 0 if it is not known.
func (t Timed) Own() float64 {
	if t.IdleRSS == 0 {
		return 0
	}
	return float64(t.PeakRSS - t.IdleRSS)
}

// condense computes from the states of a model what a record keeps.
func condense(t *train.Trajectory, boards []Part, g *graphs.Graph) *Followed {
	layers := func(states []train.State) []Layer {
		out := make([]Layer, len(states))
		for i, s := range states {
			out[i] = Layer{Layer: s.Layer, GSL: train.Number(rounded(float64(s.GSL), 5))}
			for _, p := range boards {
				out[i].Boards = append(out[i].Boards, pick(s.Probability, p.nodes()))
			}
		}
		return out
	}
	f := &Followed{Forward: layers(t.Forward), Reverse: layers(t.Reverse)}
	mines := make([]float64, len(g.Labels))
	for i, l := range g.Labels {
		mines[i] = float64(l)
	}
	for _, p := range boards {
		f.Boards = append(f.Boards, Board{p, pick(mines, p.nodes()), pick(t.Probability, p.nodes())})
	}
	return f
}

// pick returns the values at the given indices, rounded to three decimals.
func pick(values []float64, indices []int) []float64 {
	out := make([]float64, len(indices))
	for i, k := range indices {
		out[i] = rounded(values[k], 3)
	}
	return out
}

func rounded(v float64, decimals int) float64 {
	unit := math.Pow(10, float64(decimals))
	return math.Round(v*unit) / unit
}
