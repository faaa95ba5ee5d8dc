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

// Trajectory describes the states of a model. A state is the features of all nodes after a number of layers. Lists with
// an entry for each node have the nodes in the graph's order.
type Trajectory struct {
	// Forward has the states after forward layers, and Reverse has the states after reverse layers. Both lists are
	// sorted by the number of layers. Reverse is empty for models without a reverse process.
	Forward, Reverse []State
	// Probability has an entry for each node: the probability of class 1 that the model computes. Probability is nil if
	// there are more than two classes.
	Probability []float64
}

// State describes the features of all nodes after a number of layers.
type State struct {
	// Layer is the number of layers that have been applied. If it is 0, the state is the encoded features.
	Layer int
	// These are the measures of [metrics.Smoothness], or NaN if the features are not finite.
	GSL, Dirichlet, MAD, EffectiveRank Number
	// Probability has an entry for each node: the probability of class 1 that the head computes from this state alone.
	// The head reads forward and reverse features side by side. For a forward state, the head gets zeros in place of
	// the reverse features. For a reverse state, it gets zeros in place of the forward features (paper section 4.1.3).
	// Probability is nil if there are more than two classes.
	Probability []float64
}

// Trace evaluates a model with the given weights in evaluation mode, and returns its states (see [Trajectory]). For
// each number k in layers, it returns the state after k forward layers and the state after k reverse layers. States
// after more layers than the model has are left out. Trace returns an error for models that are not made of layers,
// such as GRAND (see [models.Tracer]).
func Trace(e *engine.Engine, g *graphs.Graph, split int, c Config, weights map[string]Array,
	layers []int) (t *Trajectory, err error) {
	defer recovered(&err)
	s, err := given(e, g, split, c, weights)
	if err != nil {
		return nil, err
	}
	defer s.close()
	return s.trace(layers)
}

// TraceOn is [Trace] on any graph, with the arguments of [Evaluate].
func TraceOn(e *engine.Engine, g *graphs.Graph, classes int, c Config, weights map[string]Array, known []bool,
	layers []int) (t *Trajectory, err error) {
	defer recovered(&err)
	s, err := openOn(e, g, classes, c, weights, known)
	if err != nil {
		return nil, err
	}
	defer s.close()
	return s.trace(layers)
}

func (s *session) trace(layers []int) (t *Trajectory, err error) {
	g := s.graph
	tracer, ok := s.model.Network.(models.Tracer)
	if !ok {
		return nil, fmt.Errorf("model %s has no layers to follow: choose one that is made of layers", s.config.Model)
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
		d := out[i].Shape().Dimensions[1]
		x := sparse.Restore(s.model.Order, tensors.MustCopyFlatData[float32](out[i]), d)
		m, err := metrics.Smooth(g, x, d)
		if err != nil { // The features are not finite.
			none := math.NaN()
			m = metrics.Smoothness{GSL: none, Dirichlet: none, MAD: none, EffectiveRank: none}
		}
		states[i] = State{Layer: l, GSL: Number(m.GSL), Dirichlet: Number(m.Dirichlet), MAD: Number(m.MAD),
			EffectiveRank: Number(m.EffectiveRank)}
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

// probability returns the values of a tensor of shape [n, 1], which has one value for each node. The tensor has the
// nodes in the model's order. The result has them in the graph's order.
func (s *session) probability(t *tensors.Tensor) []float64 {
	values := sparse.Restore(s.model.Order, tensors.MustCopyFlatData[float32](t), 1)
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = float64(v)
	}
	return out
}

// Within returns the numbers in layers that are at least 0 and at most depth, in ascending order and without
// repetitions. They are numbers of layers, and depth is the number of layers of a model.
func Within(layers []int, depth int) []int {
	out := slices.Compact(slices.Sorted(slices.Values(layers)))
	return slices.DeleteFunc(out, func(l int) bool { return l < 0 || l > depth })
}
