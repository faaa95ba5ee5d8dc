package train

import (
	"fmt"
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// Trajectory holds a model's states, which are the features of all nodes after some of its layers, with the nodes in
// the graph's order.
type Trajectory struct {
	// Forward and Reverse are the states of the two directions, by ascending numbers of layers. Models without a
	// reverse process have no reverse states.
	Forward, Reverse []State
	// Probability is the probability of class 1 that the whole model gives each node; nil for more than two classes.
	Probability []float64
}

// State is the features of all nodes after a number of layers.
type State struct {
	// Layer is this number of layers; 0 stands for the encoded input.
	Layer int
	// GSL is the smoothness of the features ([metrics.GSL]); NaN if they are not finite.
	GSL Number
	// Probability is the probability of class 1 for each node if the head reads this state alone, with zeros in the
	// place of the other direction (paper section 4.1.3); nil for more than two classes.
	Probability []float64
}

// Trace evaluates a model with the given parameters, in evaluation mode, and returns its states after the given numbers
// of layers. Numbers above the model's depth are left out. Only models made of layers have such states: see
// [models.Tracer].
func Trace(e *engine.Engine, g *graphs.Graph, split int, c Config, weights map[string]Array,
	layers []int) (t *Trajectory, err error) {
	defer recovered(&err)
	s, err := given(e, g, split, c, weights)
	if err != nil {
		return nil, err
	}
	defer s.close()
	tracer, ok := s.model.Network.(models.Tracer)
	if !ok {
		return nil, fmt.Errorf("model %s has no layers to follow: choose one that is made of layers", c.Model)
	}
	forward, reverse := Within(layers, s.config.Forward), []int(nil)
	if s.config.HasReverse() {
		reverse = Within(layers, s.config.Reverse)
	}
	var readouts int
	out, err := s.once("trajectory", func(scope *model.Scope, in []*Node) []*Node {
		s.store.SetTraining(in[0].Graph(), false)
		b := s.model.Builder(scope, in[2:])
		f, r := tracer.Trace(b, forward, reverse)
		out := slices.Concat(f, r)
		if s.model.Outputs == 1 {
			out = append(out, Sigmoid(s.model.Build(scope, in[2:]).Logits))
			for _, x := range f {
				out = append(out, Sigmoid(tracer.Readout(b, x, nil)))
			}
			for _, x := range r {
				out = append(out, Sigmoid(tracer.Readout(b, nil, x)))
			}
		}
		readouts = len(out) - len(f) - len(r)
		return out
	})
	if err != nil {
		return nil, err
	}
	defer release(out)
	states := make([]State, len(forward)+len(reverse))
	for i, l := range slices.Concat(forward, reverse) {
		gsl, err := metrics.GSL(tensors.MustCopyFlatData[float32](out[i]), g.NumNodes, out[i].Shape().Dimensions[1])
		if err != nil { // the features are not finite
			gsl = math.NaN()
		}
		states[i] = State{Layer: l, GSL: Number(gsl)}
		if readouts > 0 {
			states[i].Probability = s.probability(out[len(states)+1+i])
		}
	}
	t = &Trajectory{Forward: states[:len(forward)], Reverse: states[len(forward):]}
	if readouts > 0 {
		t.Probability = s.probability(out[len(states)])
	}
	return t, nil
}

// probability copies a tensor [n, 1] to Go's memory, and puts its values from the model's order of nodes into the
// graph's.
func (s *session) probability(t *tensors.Tensor) []float64 {
	values := sparse.Restore(s.model.Order, tensors.MustCopyFlatData[float32](t), 1)
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = float64(v)
	}
	return out
}

// Within returns the given numbers of layers that are not above a depth, in ascending order and without repetitions.
func Within(layers []int, depth int) []int {
	out := slices.Compact(slices.Sorted(slices.Values(layers)))
	return slices.DeleteFunc(out, func(l int) bool { return l < 0 || l > depth })
}
