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

// Trajectory has the states of a model: the features of all nodes after a number of layers.
type Trajectory struct {
	// Forward and Reverse are the states after layers, by number. Reverse is empty without a reverse process.
	Forward, Reverse []State
	// Probability is the model's probability of class 1 for each node, or nil if there are more than two classes.
	Probability []float64
}

// State is that after a number of layers; after 0, it is the encoded features.
type State struct {
	Layer int
	// These are the measures of [metrics.Smoothness], or NaN if the features are not finite.
	GSL, Dirichlet, MAD, EffectiveRank Number
	// Probability is that of class 1 for each node, or nil, if the head reads this state alone, and zeros in place of the
	// other direction's (paper section 4.1.3).
	Probability []float64
}

// Trace returns the states after the given numbers of forward and of reverse layers, as far as the model has so many, in
// evaluation mode. Models that are not made of layers, such as GRAND, are an error ([models.Tracer]).
func Trace(e *engine.Engine, g *graphs.Graph, split int, c Config, weights map[string]Array,
	layers []int) (*Trajectory, error) {
	if err := teaches(g, split); err != nil {
		return nil, err
	}
	return TraceOn(e, g, g.NumClasses, c, weights, g.Splits[split].Train, layers)
}

// TraceOn is [Trace] on any graph, with the arguments of [Predict].
func TraceOn(e *engine.Engine, g *graphs.Graph, classes int, c Config, weights map[string]Array, known []bool,
	layers []int) (t *Trajectory, err error) {
	defer models.Recovered(&err)
	s, err := openOn(e, g, classes, c, weights, known)
	if err != nil {
		return nil, err
	}
	defer s.close()
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

// probability has the values of a tensor [n, 1] in the graph's order.
func (s *session) probability(t *tensors.Tensor) []float64 {
	values := sparse.Restore(s.model.Order, tensors.MustCopyFlatData[float32](t), 1)
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = float64(v)
	}
	return out
}

// Within has those numbers of layers from 0 to depth, in ascending order and once each.
func Within(layers []int, depth int) []int {
	out := slices.Compact(slices.Sorted(slices.Values(layers)))
	return slices.DeleteFunc(out, func(l int) bool { return l < 0 || l > depth })
}
