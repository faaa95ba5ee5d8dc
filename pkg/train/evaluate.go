package train

import (
	"context"
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

// Predict computes a trained model's outputs on a graph in evaluation mode; the preparation of its table is the
// caller's ([graphs.Prepared.Apply]). classes is the number of classes that it was trained for. known marks the nodes
// whose labels the model may read, for models that read labels when they predict ([models.Kind].ReadsLabels); it may be
// nil. The graph's splits are not used.
func Predict(e *engine.Engine, g *graphs.Graph, classes int, c Config, weights map[string]Array,
	known []bool) (p *Prediction, err error) {
	defer models.Recovered(&err)
	s, err := openOn(e, g, classes, c, weights, known)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if p, err = s.predict(false, false); err != nil {
		return nil, err
	}
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

// Probabilities are those of each class for each node ([metrics.Probabilities]).
func (p *Prediction) Probabilities() []float64 { return metrics.Probabilities(p.Logits, p.Outputs) }

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
	read, err := prepare(g, split, c)
	if err != nil {
		return nil, err
	}
	s, err := openOn(e, read.graph, g.NumClasses, c, weights, g.Splits[split].Train)
	if err != nil {
		return nil, err
	}
	defer s.close()
	s.model.Deterministic = true
	if s.weights, err = classWeights(c.ClassWeights, g, g.Splits[split].Train); err != nil {
		return nil, err
	}
	return s.predict(true, gradients)
}

// predict runs the model once, and in training mode also its loss and, if asked, the gradients of the loss.
func (s *session) predict(training, gradients bool) (*Prediction, error) {
	out, err := s.once("evaluation", func(scope *model.Scope, in []*Node) []*Node {
		b := s.build(scope, in, training)
		out := []*Node{b.Logits, b.Representation, b.Stats.Outcome}
		if training {
			out = append(out, b.loss)
		}
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
	if why := s.explain(out[2]); why != "" {
		return nil, fmt.Errorf("the model cannot be evaluated: %s", why)
	}
	p := &Prediction{Outputs: s.model.Outputs, Width: out[1].Shape().Dimensions[1]}
	p.Logits, p.Representation = s.rows(out[0]), s.rows(out[1])
	if training {
		p.Loss = float64(tensors.ToScalar[float32](out[3]))
	}
	if gradients {
		p.Gradients = map[string]Array{}
		for i, v := range s.trainable() {
			p.Gradients[models.NameOf(v)] = Array{Shape: v.Shape().Dimensions,
				Values: tensors.MustCopyFlatData[float32](out[4+i])}
		}
	}
	return p, nil
}

// rows copies an array with a row for each node to main memory, in the graph's order.
func (s *session) rows(t *tensors.Tensor) []float32 {
	return sparse.Restore(s.model.Order, tensors.MustCopyFlatData[float32](t), t.Shape().Dimensions[1])
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

// Trajectory has the states of a model: the features of all nodes after a number of layers.
type Trajectory struct {
	// Forward and Reverse are the states after layers, by number. Reverse is empty without a reverse process.
	Forward, Reverse []State
	// Probability is the model's probability of class 1 for each node, or nil if there are more than two classes.
	Probability []float64
}

// State is that after a number of layers; after 0, it is the encoded features.
type State struct {
	Layer              int
	metrics.Smoothness // NaN if the features are not finite
	// Probability is that of class 1 for each node, or nil, if the head reads this state alone, and zeros in place of
	// the other direction's (paper section 4.1.3).
	Probability []float64
}

// Trace returns the states after the given numbers of forward and of reverse layers, as far as the model has so many,
// in evaluation mode. Models that are not made of layers, such as GRAND, are an error ([models.Tracer]).
func Trace(e *engine.Engine, g *graphs.Graph, split int, c Config, weights map[string]Array,
	layers []int) (*Trajectory, error) {
	read, err := prepare(g, split, c)
	if err != nil {
		return nil, err
	}
	return TraceOn(e, read.graph, g.NumClasses, c, weights, g.Splits[split].Train, layers)
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
		m, err := metrics.Smooth(g, s.rows(out[i]), out[i].Shape().Dimensions[1])
		if err != nil { // The features are not finite.
			none := math.NaN()
			m = metrics.Smoothness{GSL: none, Dirichlet: none, MAD: none, EffectiveRank: none}
		}
		states[i] = State{Layer: l, Smoothness: m}
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
	out := make([]float64, s.graph.NumNodes)
	for i, v := range s.rows(t) {
		out[i] = float64(v)
	}
	return out
}

// Within has those numbers of layers from 0 to depth, in ascending order and once each.
func Within(layers []int, depth int) []int {
	out := slices.Compact(slices.Sorted(slices.Values(layers)))
	return slices.DeleteFunc(out, func(l int) bool { return l < 0 || l > depth })
}

// Inversion tells how well reverse layers undo forward layers.
type Inversion struct {
	Model  string `json:"model"`
	Graph  string `json:"dataset"`
	Engine string `json:"engine"`
	// Threads is that of the engine, or 0 if results do not depend on it.
	Threads int `json:"threads,omitempty"`
	Depth   int `json:"depth"`
	// Time is that of GRAND's integration forwards and back, else 0.
	Time float64 `json:"time,omitempty"`
	// Iterations are those per reverse layer (M in the paper), Lipschitz is the bound on Lip(h) (c in the paper).
	Iterations int     `json:"max_iterations"`
	Lipschitz  float64 `json:"lipschitz"`
	Hidden     int     `json:"hidden"`
	Seed       uint64  `json:"seed"`
	// MeanAbsError is the mean absolute difference between the encoded features and what Depth forward and Depth
	// reverse layers make of them (paper table 4), MeanAbsInput the mean absolute value of the encoded features.
	MeanAbsError Number `json:"mean_abs_error"`
	MeanAbsInput Number `json:"mean_abs_input"`
	// Residual[m] is the mean absolute change of the iterate in iteration m+1, averaged over the layers (paper figure
	// 5); empty for GRAND, which does not iterate.
	Residual []Number `json:"residual"`
}

// Invertible refuses a model without a reverse process, and names its variant with one: gcn+rep for gcn.
func Invertible(c Config) error {
	if c.HasReverse() {
		return nil
	}
	k, err := models.Lookup(c.Model)
	if err != nil {
		return err
	}
	with, ok := k.WithReverse()
	if !ok {
		return fmt.Errorf("model %s has no reverse layers to invert with, and no other model has one for it", c.Model)
	}
	return fmt.Errorf("model %s has no reverse layers to invert with: choose %s", c.Model, with.Name)
}

// Invert measures how well c.Forward reverse layers undo as many forward layers on a graph's encoded features. Each
// reverse layer takes exactly c.MaxIterations iterations Z = Y - h(Z) from Z = Y (algorithm 1 of the paper). Parameters
// are drawn by c.Seed; those with a bound are scaled so that the sum of their norms is c.Lipschitz. GRAND is integrated
// forwards and back.
func Invert(ctx context.Context, e *engine.Engine, g *graphs.Graph, c Config) (inv *Inversion, err error) {
	defer models.Recovered(&err)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("interrupted before the inversion")
	}
	if err := Invertible(c); err != nil {
		return nil, err
	}
	c.Dropout = 0
	if c.Normalise != "" {
		c.Normalise = "project"
	}
	s, err := newSession(e, g, 0, c)
	if err != nil {
		return nil, err
	}
	defer s.close()
	inverter, ok := s.model.Network.(models.Inverter)
	if !ok {
		return nil, fmt.Errorf("model %s cannot be run forwards and back again: choose one that can", c.Model)
	}
	if err := s.toBound(); err != nil {
		return nil, err
	}
	out, err := s.once("inversion", func(scope *model.Scope, in []*Node) []*Node {
		x, z, residual, stats := inverter.RoundTrip(s.model.Builder(scope, in[2:]))
		out := []*Node{ReduceAllMean(Abs(Sub(z, x))), ReduceAllMean(Abs(x)), stats.Outcome}
		if residual != nil {
			out = append(out, residual)
		}
		return out
	})
	if err != nil {
		return nil, err
	}
	defer release(out)
	if why := s.explain(out[2]); why != "" {
		return nil, fmt.Errorf("the model cannot be inverted: %s", why)
	}
	to, _ := c.Value("time").(float64)
	inv = &Inversion{Model: c.Model, Graph: g.Name, Engine: e.Name, Threads: e.Threads, Depth: s.config.Forward, Time: to,
		Residual: []Number{}, Iterations: c.MaxIterations, Lipschitz: c.Contraction(),
		Hidden: c.Hidden, Seed: c.Seed, MeanAbsError: Number(tensors.ToScalar[float32](out[0])),
		MeanAbsInput: Number(tensors.ToScalar[float32](out[1]))}
	for _, t := range out[3:] {
		for _, v := range tensors.MustCopyFlatData[float32](t) {
			inv.Residual = append(inv.Residual, Number(v))
		}
	}
	return inv, nil
}
