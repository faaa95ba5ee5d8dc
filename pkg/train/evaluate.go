package train

import (
	"fmt"
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
)

// Evaluate computes a trained model's outputs on a graph in evaluation mode. classes is the number of classes that the
// model was trained for. It may differ from the graph's number of classes. Evaluate does not use the splits of the
// graph.
//
// Most models read no labels when they predict. For them, known is nil. For a model that reads labels (see
// [models.Kind].ReadsLabels), known marks the nodes whose labels it may read. The model reads no other labels.
func Evaluate(e *engine.Engine, g *graphs.Graph, classes int, c Config, weights map[string]Array,
	known []bool) (p *Prediction, err error) {
	defer recovered(&err)
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

// openOn opens a session for evaluations of a trained model on a graph.
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

// Probabilities returns the probability of each class for each of the n nodes: an array of shape [n, classes], row by
// row. If there are more than two classes, the probabilities are the softmax of the logits. If there are two classes,
// the model has one logit z per node: p = 1/(1 + e^-z) is the probability of class 1, and 1 - p is the probability of
// class 0.
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
