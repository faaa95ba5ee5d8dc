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

// Trajectory has the states of a model, which are the features of all nodes after some of its layers. The nodes are in
// the graph's order.
type Trajectory struct {
	// Forward and Reverse are the states after forward layers and after reverse layers, by ascending numbers of layers.
	// Reverse is empty for models without a reverse process.
	Forward, Reverse []State
	// Probability has, for each node, the probability of class 1 that the whole model computes. It is nil if there are
	// more than two classes.
	Probability []float64
}

// State describes the features of all nodes after a number of layers.
type State struct {
	// Layer is the number of layers. 0 stands for the encoded features, before any layer.
	Layer int
	// GSL is the smoothness of the features ([metrics.GSL]), or NaN if the features are not finite.
	GSL Number
	// Probability has, for each node, the probability of class 1 that the head computes from this state alone. The head
	// reads zeros in the place of the features of the other direction (paper section 4.1.3). Probability is nil if
	// there are more than two classes.
	Probability []float64
}

// Trace evaluates a model with the given weights in evaluation mode, and returns its states (see [Trajectory]). For
// each number k in layers, it returns the state after k forward layers and the state after k reverse layers. It leaves
// out numbers that exceed the model's number of layers. Only models made of layers have states; see [models.Tracer].
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
		if err != nil { // The features are not finite.
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

// probability copies a tensor of shape [n, 1] to main memory, and brings its values from the model's order of nodes
// into the graph's order.
func (s *session) probability(t *tensors.Tensor) []float64 {
	values := sparse.Restore(s.model.Order, tensors.MustCopyFlatData[float32](t), 1)
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = float64(v)
	}
	return out
}

// Within selects from a list of numbers of layers those from 0 to depth. It returns them in ascending order, each only
// once.
func Within(layers []int, depth int) []int {
	out := slices.Compact(slices.Sorted(slices.Values(layers)))
	return slices.DeleteFunc(out, func(l int) bool { return l < 0 || l > depth })
}
