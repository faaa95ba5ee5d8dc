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
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// Predict computes a trained model's outputs on a graph in evaluation mode. classes is the number of classes that it was
// trained for. known marks the nodes whose labels the model may read, for models that read labels when they predict
// ([models.Kind].ReadsLabels); it may be nil. The graph's splits are not used.
func Predict(e *engine.Engine, g *graphs.Graph, classes int, c Config, weights map[string]Array,
	known []bool) (p *Prediction, err error) {
	defer models.Recovered(&err)
	s, err := openOn(e, g, classes, c, weights, known)
	if err != nil {
		return nil, err
	}
	defer s.close()
	out, err := s.once("evaluation", func(scope *model.Scope, in []*Node) []*Node {
		b := s.build(scope, in, false)
		return []*Node{b.Logits, b.Representation, b.Stats.Outcome}
	})
	if err != nil {
		return nil, err
	}
	defer release(out)
	if why := s.explain(out[2]); why != "" {
		return nil, fmt.Errorf("the model cannot be evaluated: %s", why)
	}
	p = s.outputs(out[0], out[1])
	if slices.ContainsFunc(p.Logits, func(v float32) bool { return v != v || math.IsInf(float64(v), 0) }) {
		return nil, fmt.Errorf("the model's outputs on %q are not finite: look for features far beyond those that it "+
			"was trained on", g.Name)
	}
	return p, nil
}

// openOn opens a session for a trained model on a graph.
func openOn(e *engine.Engine, g *graphs.Graph, classes int, c Config, weights map[string]Array,
	known []bool) (*session, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if g.NumNodes == 0 || g.NumFeatures == 0 || classes < 2 {
		return nil, fmt.Errorf("graph %q has %d nodes of %d features, for a model of %d classes: a prediction needs a "+
			"node, a feature and two classes at least", g.Name, g.NumNodes, g.NumFeatures, classes)
	}
	if known == nil {
		known = make([]bool, g.NumNodes)
	}
	read := *g
	read.NumClasses, read.ClassNames = classes, nil
	s, err := openSession(e, &read, graphs.Split{Train: known}, c, c.Seed)
	if err != nil {
		return nil, err
	}
	if err := s.load(weights); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// Probabilities are those of each class for each node, [n, classes] row by row: the softmax of the logits or, for two
// classes, 1 - p and p = 1/(1 + e^-z) for the logit z.
func (p *Prediction) Probabilities() []float64 {
	if p.Outputs == 1 {
		out := make([]float64, 0, 2*len(p.Logits))
		for _, z := range p.Logits {
			out = append(out, 1/(1+math.Exp(float64(z))), 1/(1+math.Exp(-float64(z))))
		}
		return out
	}
	out := make([]float64, len(p.Logits))
	for from := 0; from < len(out); from += p.Outputs {
		row, sum := p.Logits[from:from+p.Outputs], 0.0
		top := float64(slices.Max(row))
		for k, z := range row {
			out[from+k] = math.Exp(float64(z) - top)
			sum += out[from+k]
		}
		for k := range row {
			out[from+k] /= sum
		}
	}
	return out
}

// Prediction has the outputs of a model, with nodes in the graph's order.
type Prediction struct {
	Logits  []float32 // [nodes, Outputs], row by row
	Outputs int
	// Representation is what the head, the last layer, reads: [nodes, Width], row by row.
	Representation []float32
	Width          int
	// Loss is that over the training nodes, and Gradients are its gradients by parameters, from [Evaluate].
	Loss      float64
	Gradients map[string]Array
}

// Evaluate computes the loss over a split's training nodes with given weights and, if asked, its gradients by all
// parameters: in training mode, but without dropout and other randomness.
func Evaluate(e *engine.Engine, g *graphs.Graph, split int, c Config, weights map[string]Array,
	gradients bool) (p *Prediction, err error) {
	defer models.Recovered(&err)
	if err := teaches(g, split); err != nil {
		return nil, err
	}
	s, err := openOn(e, g, g.NumClasses, c, weights, g.Splits[split].Train)
	if err != nil {
		return nil, err
	}
	s.model.Deterministic = true
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

// outputs copies logits and representation to main memory.
func (s *session) outputs(logits, representation *tensors.Tensor) *Prediction {
	p := &Prediction{Outputs: s.model.Outputs, Width: representation.Shape().Dimensions[1]}
	rows := func(t *tensors.Tensor, width int) []float32 {
		return sparse.Restore(s.model.Order, tensors.MustCopyFlatData[float32](t), width)
	}
	p.Logits, p.Representation = rows(logits, p.Outputs), rows(representation, p.Width)
	return p
}

// load sets the variables to the weights, which must have a value of the right shape for each.
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
