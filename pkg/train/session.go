package train

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	gomlx "github.com/gomlx/gomlx/ml/train"
	"github.com/gomlx/gomlx/ml/train/optimizer"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// session is a model on a graph, as the model reads it, with the values of its variables.
type session struct {
	prepared
	engine *engine.Engine
	model  *models.Model
	config Config
	split  graphs.Split
	store  *model.Store
	// weights are those of the classes in the loss; nil stands for 1 each.
	weights []float32
	models.Declaration
	inputs []any // the arguments of every program: labels, training mask, the model's arrays
	// predicted is the most memory that the process is expected to use at a time, in bytes, or 0; see [session.expect].
	predicted int64
}

// newSession checks all its arguments, and prepares the graph's table. The model may read the labels of the split's
// training nodes.
func newSession(e *engine.Engine, g *graphs.Graph, split int, c Config) (*session, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	read, err := prepare(g, split, c)
	if err != nil {
		return nil, err
	}
	weights, err := classWeights(c.ClassWeights, g, g.Splits[split].Train)
	if err != nil {
		return nil, err
	}
	s, err := openSession(e, read.graph, g.Splits[split], c, c.Seed+uint64(split))
	if err == nil {
		s.prepared, s.weights = read, weights
	}
	return s, err
}

// classWeights are those of a setting, see [models.Objective], or nil for none.
func classWeights(setting string, g *graphs.Graph, train []bool) ([]float32, error) {
	counts, n := make([]float64, g.NumClasses), 0.0
	for i, in := range train {
		if in {
			counts[g.Labels[i]]++
			n++
		}
	}
	weights := slices.Repeat([]float32{1}, g.NumClasses)
	switch setting {
	case "none", "":
		return nil, nil
	case "balanced":
		_, some := g.ClassesIn(train)
		for c, count := range counts {
			if count > 0 {
				weights[c] = float32(n / (float64(some) * count))
			}
		}
		return weights, nil
	}
	wrong := func(why string) error {
		return fmt.Errorf("class-weights is %q, but %s: give none, balanced, numbers for classes (%s) or NAME=NUMBER",
			setting, why, strings.Join(g.Classes(), ", "))
	}
	reader := csv.NewReader(strings.NewReader(setting)) // names with commas are quoted, as in a table
	reader.TrimLeadingSpace = true
	list, err := reader.Read()
	if err != nil || reader.InputOffset() < int64(len(setting)) {
		return nil, wrong(`it is no list as in a table, where a name with a comma or a quote stands as "a,b=2"`)
	}
	named, given := strings.Contains(setting, "="), map[int]bool{}
	if !named && len(list) != g.NumClasses {
		return nil, wrong(fmt.Sprintf("there are %d classes", g.NumClasses))
	}
	for at, text := range list {
		if k := strings.LastIndex(text, "="); named {
			name := strings.TrimSpace(text[:max(k, 0)])
			if at = slices.Index(g.Classes(), name); at < 0 {
				return nil, wrong(fmt.Sprintf("there is no class %q", name))
			}
			if given[at] {
				return nil, wrong(fmt.Sprintf("the class %q is there twice", name))
			}
			given[at] = true
			text = text[k+1:]
		}
		weight, err := strconv.ParseFloat(strings.TrimSpace(text), 32)
		if err != nil || !(weight > 0) || math.IsInf(weight, 0) {
			return nil, wrong(fmt.Sprintf("%q is no number above 0", text))
		}
		weights[at] = float32(weight)
	}
	return weights, nil
}

// prepared is a graph as a model reads it, the preparation that made it so, and what users should know of it.
type prepared struct {
	graph *graphs.Graph
	by    *graphs.Prepared
	notes []string
}

// prepare checks that a graph can be trained on, and prepares its table by the nodes of a split. It does the same each
// time.
func prepare(g *graphs.Graph, split int, c Config) (p prepared, err error) {
	if err := teaches(g, split); err != nil {
		return p, err
	}
	if p.by, p.notes, err = c.Prepare(g, g.Splits[split].Train); err != nil {
		return p, err
	}
	var more []string
	if p.graph, more, err = p.by.Apply(g); err == nil && p.graph.NumFeatures == 0 {
		err = fmt.Errorf("graph %q has no features, which training needs: add columns to it, or choose --structure "+
			"degree or another one", g.Name)
	}
	p.notes = append(p.notes, more...)
	return p, err
}

// Features is the number of features that a model reads of a graph for a split, after the preparation of its table.
func Features(g *graphs.Graph, split int, c Config) (int, error) {
	p, err := prepare(g, split, c)
	if err != nil {
		return 0, err
	}
	return p.graph.NumFeatures, nil
}

// teaches refuses a graph that cannot be trained on.
func teaches(g *graphs.Graph, split int) error {
	if g.NumNodes > 0 && g.Labelled() == 0 {
		return fmt.Errorf("graph %q has no labels, which training needs: add them to it, or have a model that was "+
			"trained before predict them", g.Name)
	}
	if g.NumNodes == 0 || g.NumClasses < 2 {
		return fmt.Errorf("graph %q has %d nodes and %d classes: training needs a node and two classes at least",
			g.Name, g.NumNodes, g.NumClasses)
	}
	own := *g
	own.Splits = nil // whose masks may overlap here
	if err := own.Validate(); err != nil {
		return err
	}
	known := make([]bool, g.NumClasses)
	for _, class := range g.Labels {
		if class != graphs.Unlabelled {
			known[class] = true
		}
	}
	if class := slices.Index(known, false); class >= 0 {
		return fmt.Errorf("graph %q has %d classes, but no node of class %d: number classes from 0 without gaps, or give "+
			"them names", g.Name, g.NumClasses, class)
	}
	if len(g.Splits) == 0 {
		return fmt.Errorf("graph %q has no splits to train on: add masks to it, or leave them out to get random ones",
			g.Name)
	}
	if split < 0 || split >= len(g.Splits) {
		return fmt.Errorf("graph %q has no split %d: its splits are numbered 0 to %d",
			g.Name, split, len(g.Splits)-1)
	}
	if s := g.Splits[split]; len(s.Train) != g.NumNodes || len(s.Val) != g.NumNodes || len(s.Test) != g.NumNodes {
		return fmt.Errorf("graph %q: the masks of split %d have %d, %d and %d entries for %d nodes", g.Name, split,
			len(s.Train), len(s.Val), len(s.Test), g.NumNodes)
	}
	if none(g.Splits[split].Train) {
		return fmt.Errorf("graph %q: split %d has no training nodes", g.Name, split)
	}
	return g.Teaches(split)
}

// openSession returns a session with initial values by the seed. The configuration and the graph are checked.
func openSession(e *engine.Engine, g *graphs.Graph, split graphs.Split, c Config, seed uint64) (*session, error) {
	if len(g.Columns) > 0 {
		return nil, fmt.Errorf("graph %q has columns that are not all numbers (%s), which this model does not read",
			g.Name, g.ListFeatures())
	}
	if err := admitLeast(e, g, c); err != nil {
		return nil, err
	}
	m, err := models.New(c, g, e.Backend)
	if err != nil {
		return nil, err
	}
	n := g.NumNodes
	labels, mask := make([]float32, n), make([]float32, n)
	for i := range labels {
		labels[i] = float32(g.Labels[i])
		if split.Train[i] {
			mask[i] = 1
		}
	}
	s := &session{prepared: prepared{graph: g}, engine: e, model: m, config: c.Resolved(), split: split,
		store: model.NewStore()}
	s.inputs = []any{
		tensors.FromFlatDataAndDimensions(sparse.Permute(m.Order, labels, 1), n, 1),
		tensors.FromFlatDataAndDimensions(sparse.Permute(m.Order, mask, 1), n, 1),
	}
	for _, t := range m.Arrays {
		s.inputs = append(s.inputs, t)
	}
	// Memory that Go has freed goes back to the system, since the engine needs it.
	debug.FreeOSMemory()
	rng := rand.New(rand.NewPCG(seed, 0x7265766e6e)) // the second word is a constant
	s.Declaration, err = m.Declare(e.Backend, s.store, seed, func(p models.Param) (*tensors.Tensor, error) {
		return p.Start(rng), nil
	})
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// trainable are the parameters, in the order in which the model made them.
func (s *session) trainable() []*model.Variable {
	return slices.DeleteFunc(slices.Clone(s.Variables), func(v *model.Variable) bool { return !v.Trainable })
}

// built has the outputs of a model and its loss, a scalar.
type built struct {
	models.Output
	loss *Node
}

// build adds the model and its loss to a computation graph: the mean cross-entropy over the training nodes, for two
// classes the binary one with logits (paper section 4.1.2), and in training the model's penalty. With label smoothing
// ε, the target is 1 - ε for the node's class plus ε/K for each of K classes (as PyTorch's CrossEntropyLoss). With
// weights of classes it is Σ w_y l / Σ w_y, as PyTorch's cross_entropy. in stands for s.inputs.
func (s *session) build(scope *model.Scope, in []*Node, training bool) built {
	g := in[0].Graph()
	s.store.SetTraining(g, training)
	b := s.model.Builder(scope, in[2:])
	b.Teach(in[0], in[1])
	out := s.model.Network.Build(b)
	if out.Stats == nil {
		none := solve.NoStats(out.Logits)
		out.Stats = &none
	}
	labels, mask, smoothing := in[0], in[1], s.config.LabelSmoothing
	var each *Node
	if s.model.Outputs == 1 {
		z := out.Logits
		if smoothing > 0 {
			labels = AddScalar(MulScalar(labels, 1-smoothing), smoothing/2)
		}
		each = Add(Sub(Max(z, ZerosLike(z)), Mul(z, labels)), Log1p(Exp(Neg(Abs(z)))))
	} else {
		classes := Iota(g, out.Logits.Shape(), 1)
		chosen := Where(Equal(classes, BroadcastToShape(labels, classes.Shape())), LogSoftmax(out.Logits, 1),
			ZerosLike(out.Logits))
		each = Neg(ReduceAndKeep(chosen, ReduceSum, 1))
		if smoothing > 0 {
			even := Neg(ReduceAndKeep(LogSoftmax(out.Logits, 1), ReduceMean, 1))
			each = Add(MulScalar(each, 1-smoothing), MulScalar(even, smoothing))
		}
	}
	if s.weights != nil {
		of := Const(g, tensors.FromFlatDataAndDimensions(s.weights, len(s.weights), 1))
		known := Max(labels, ZerosLike(labels)) // unlabelled nodes are -1
		mask = Mul(mask, Gather(of, ConvertDType(known, dtypes.Int32)))
	}
	loss := Div(ReduceAllSum(Mul(each, mask)), ReduceAllSum(mask))
	if training && out.Penalty != nil {
		loss = Add(loss, out.Penalty)
	}
	return built{out, loss}
}

// gradients are those of the loss by all parameters, and what the backward pass tells ([solve.Stats].Adjoint).
func (s *session) gradients(b built) (gradients []*Node, told *Node) {
	var values []*Node
	for _, v := range s.trainable() {
		values = append(values, v.NodeValue(b.loss))
	}
	all := Gradient(b.loss, append(values, b.Stats.Adjoint)...)
	return all[:len(values)], all[len(values)]
}

// Positions of the results of [session.step]. From outParams on, they are the parameters before the step.
const (
	outLoss = iota
	outLogits
	outIterations
	outResidual
	outLayer
	outAdjoint // the iterations of all adjoint solves, and their largest residual
	outOutcome
	outParams
)

// step adds a training step: the loss, its gradients, Adam, and with --normalise project the bounds on norms.
func (s *session) step(scope *model.Scope, in []*Node) []*Node {
	g := in[0].Graph()
	b := s.build(scope, in, true)
	gradients, told := s.gradients(b)
	if most := s.config.ClipNorm; most > 0 { // as torch.nn.utils.clip_grad_norm_
		squares := ScalarZero(g, b.loss.DType())
		for _, each := range gradients {
			squares = Add(squares, ReduceAllSum(Square(each)))
		}
		factor := MinScalar(MulScalar(Reciprocal(AddScalar(Sqrt(squares), 1e-6)), most), 1)
		for i, each := range gradients {
			gradients[i] = Mul(each, factor)
		}
	}
	decoupled := s.config.Optimiser == "adamw"
	var before []*Node
	for i, v := range s.trainable() {
		before = append(before, v.NodeValue(g))
		if s.config.WeightDecay > 0 && !decoupled {
			gradients[i] = Add(gradients[i], MulScalar(before[i], s.config.WeightDecay))
		}
	}
	// The optimiser expects gradients in the order in which variables were made.
	adam := optimizer.Adam().LearningRate(s.config.LearningRate).Epsilon(1e-8)
	if decoupled {
		adam.WeightDecay(s.config.WeightDecay)
	}
	adam.Done().(gomlx.OptimizeWithGradients).UpdateGraphWithGradients(scope, gradients, b.loss.DType())
	for _, bounded := range models.Groups(s.Params) {
		if bounded.Project {
			scale(scope, g, bounded, bounded.Apply)
		}
	}
	stats := b.Stats
	return append([]*Node{b.loss, b.Logits, stats.Iterations, stats.Residual, stats.Layer, told,
		stats.Outcome}, before...)
}

// explain says why the model's computation failed, such as the integration of GRAND, or "".
func (s *session) explain(outcome *tensors.Tensor) string {
	return s.config.Explain(int(tensors.ToScalar[int32](outcome)))
}

// scale replaces the values of the parameters that share a bound by those that by computes.
func scale(scope *model.Scope, g *Graph, bounded models.Bounded, by func([]*Node) []*Node) {
	var values []*Node
	for _, p := range bounded.Params {
		values = append(values, scope.GetVariable(p.Name).NodeValue(g))
	}
	for i, v := range by(values) {
		scope.GetVariable(bounded.Params[i].Name).SetNodeValue(v)
	}
}

// toBound scales parameters with a bound so that the sums of their norms equal it.
func (s *session) toBound() error {
	groups := models.Groups(s.Params)
	if len(groups) == 0 {
		return nil
	}
	out, err := s.once("scaling of the weights", func(scope *model.Scope, in []*Node) []*Node {
		for _, bounded := range groups {
			scale(scope, in[0].Graph(), bounded, bounded.Meet)
		}
		return in[:1]
	})
	release(out)
	return err
}

// once compiles a program for the session's inputs and runs it once. Errors call it what.
func (s *session) once(what string, graph func(scope *model.Scope, in []*Node) []*Node) ([]*tensors.Tensor, error) {
	exec, err := s.program(what, graph)
	if err != nil {
		return nil, err
	}
	defer exec.Finalize()
	out, err := exec.Call(s.inputs...)
	if err != nil {
		return nil, fmt.Errorf("the %s failed on %s: %w", what, s.engine.Name, err)
	}
	return out, nil
}

// program compiles a program for the session's inputs, and refuses it if it needs more memory than is available.
func (s *session) program(what string, graph func(scope *model.Scope, in []*Node) []*Node) (*model.Exec, error) {
	exec, err := model.NewExec(s.engine.Backend, s.store, graph)
	if err != nil {
		return nil, fmt.Errorf("the %s cannot be built: %w", what, err)
	}
	exec.WithName(what)
	var inputs []shapes.Shape
	for _, in := range s.inputs {
		inputs = append(inputs, in.(*tensors.Tensor).Shape())
	}
	compiled, err := exec.Compile(inputs...)
	if err != nil {
		err = fmt.Errorf("the %s cannot be compiled for %s: %w", what, s.engine.Name, err)
	} else {
		err = s.expect(compiled)
	}
	if err != nil {
		exec.Finalize()
		return nil, err
	}
	return exec, nil
}

// release frees the engine's memory of tensors.
func release(out []*tensors.Tensor) {
	for _, t := range out {
		t.MustFinalizeAll()
	}
}

// close frees the engine's memory of variables and inputs.
func (s *session) close() {
	s.store.Finalize()
	for _, in := range s.inputs {
		in.(*tensors.Tensor).MustFinalizeAll()
	}
}
