package train

import (
	"fmt"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// Prediction is the result of one evaluation of a model. Its nodes are in the graph's order.
type Prediction struct {
	// Logits has the logits, one row after the other: an array of shape [nodes, Outputs].
	Logits  []float32
	Outputs int
	// Representation has the input of the head, which is the model's last layer. It is an array of shape
	// [nodes, Width], one row after the other.
	Representation []float32
	Width          int
	// Loss is the loss over the training nodes. Gradients maps the name of each parameter to the gradient of the loss
	// with respect to this parameter. Gradients is nil if the caller asked for no gradients. [Evaluate] computes
	// neither the loss nor gradients.
	Loss      float64
	Gradients map[string]Array
}

// Predict evaluates a model with given weights on a graph, in training mode, but without dropout and other randomness.
// It computes the loss of the split's training nodes and, if gradients is true, also the gradient of the loss with
// respect to every parameter.
func Predict(e *engine.Engine, g *graphs.Graph, split int, c Config, weights map[string]Array,
	gradients bool) (p *Prediction, err error) {
	defer recovered(&err)
	s, err := given(e, g, split, c, weights)
	if err != nil {
		return nil, err
	}
	defer s.close()
	out, err := s.once("evaluation", func(scope *model.Scope, in []*Node) []*Node {
		b := s.build(scope, in, true)
		out := []*Node{b.loss, b.Logits, b.Representation, b.Stats.Outcome}
		if gradients {
			gradients, _ := s.gradients(b)
			out = append(out, gradients...)
		}
		return out
	})
	if err != nil {
		return nil, err
	}
	defer release(out)
	if why := s.explain(out[3]); why != "" {
		return nil, fmt.Errorf("the model cannot be evaluated: %s", why)
	}
	p = s.outputs(out[1], out[2])
	p.Loss = float64(tensors.ToScalar[float32](out[0]))
	if gradients {
		p.Gradients = map[string]Array{}
		for i, v := range s.trainable() {
			p.Gradients[models.NameOf(v)] = Array{v.Shape().Dimensions, tensors.MustCopyFlatData[float32](out[4+i])}
		}
	}
	return p, nil
}

// outputs copies a model's logits and representation to main memory, with the nodes in the graph's order.
func (s *session) outputs(logits, representation *tensors.Tensor) *Prediction {
	p := &Prediction{Outputs: s.model.Outputs, Width: representation.Shape().Dimensions[1]}
	rows := func(t *tensors.Tensor, width int) []float32 {
		return sparse.Restore(s.model.Order, tensors.MustCopyFlatData[float32](t), width)
	}
	p.Logits, p.Representation = rows(logits, p.Outputs), rows(representation, p.Width)
	return p
}

// given returns a session for evaluating a model with the given weights. The model may read the labels of the split's
// training nodes, as in training. Dropout and all other randomness are off, even in training mode.
func given(e *engine.Engine, g *graphs.Graph, split int, c Config, weights map[string]Array) (*session, error) {
	s, err := newSession(e, g, split, c)
	if err != nil {
		return nil, err
	}
	s.model.Still = true
	if err := s.load(weights); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// load sets the model's variables to the given weights. There must be a value of the right shape for each variable.
func (s *session) load(weights map[string]Array) error {
	for _, v := range s.Variables {
		name, shape := models.NameOf(v), v.Shape()
		a, ok := weights[name]
		if !ok {
			return fmt.Errorf("the weights have no parameter %q, which %s needs (it has %s)",
				name, s.config.Model, listed(weights))
		}
		if !slices.Equal(a.Shape, shape.Dimensions) || len(a.Values) != shape.Size() {
			return fmt.Errorf("parameter %q has shape %v in the weights, "+
				"but %s needs %v with these settings and this graph", name, a.Shape, s.config.Model, shape.Dimensions)
		}
		if err := v.SetValue(tensors.FromFlatDataAndDimensions(a.Values, a.Shape...)); err != nil {
			return fmt.Errorf("parameter %q cannot be set: %w", name, err)
		}
	}
	return nil
}
