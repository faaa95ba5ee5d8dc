package experiment

import (
	"math"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/train"
)

// Trained is the outcome of a training.
type Trained struct {
	train.Result
	Metric string `json:"metric"`
	// Followed is set if the task asked for it.
	Followed *Followed `json:"followed,omitempty"`
}

// Followed are the states of a trained model after some of its layers, reduced to what is small enough for a record.
type Followed struct {
	Forward []Layer `json:"forward"`
	Reverse []Layer `json:"reverse,omitempty"`
	Boards  []Board `json:"boards,omitempty"`
}

// Layer is the state after a number of layers in one direction. For each part of the board in [Follow.Boards], Boards
// has the probabilities of a mine that the model's head gives when it reads this state alone.
type Layer struct {
	Layer  int          `json:"layer"`
	GSL    train.Number `json:"gsl"`
	Boards [][]float64  `json:"boards,omitempty"`
}

// Board is a part of a board of mines: where the mines are, and the probabilities of a mine that the whole model gives.
type Board struct {
	Part
	Mines       []float64 `json:"mines"`
	Probability []float64 `json:"probability"`
}

// Timed is the outcome of a benchmark. IdleRSS is the memory of its process before the benchmark began, in bytes. It is
// 0 if the process also ran other tasks, since the peak may then be theirs.
type Timed struct {
	train.Benchmark
	IdleRSS int64 `json:"idle_rss_bytes,omitempty"`
}

// Own is the memory that the benchmark itself took, in bytes; 0 if unknown.
func (t Timed) Own() float64 {
	if t.IdleRSS == 0 {
		return 0
	}
	return float64(t.PeakRSS - t.IdleRSS)
}

// condense extracts from a trajectory what a record keeps: the smoothness after each layer, and the probabilities on
// the parts of the board.
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

// pick returns the values at the given places, rounded to three decimals.
func pick(values []float64, at []int) []float64 {
	out := make([]float64, len(at))
	for i, k := range at {
		out[i] = rounded(values[k], 3)
	}
	return out
}

func rounded(v float64, decimals int) float64 {
	unit := math.Pow(10, float64(decimals))
	return math.Round(v*unit) / unit
}
