package train

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	gomlx "github.com/gomlx/gomlx/ml/train"
	"github.com/gomlx/gomlx/ml/train/optimizer"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// session is a model on an engine, bound to a graph and a split: the parameters' store and the arrays passed to every call.
type session struct {
	engine *engine.Engine
	graph  *graphs.Graph
	model  *models.Model
	config Config
	split  graphs.Split
	store  *model.Store
	params []models.Param
	inputs []any // labels, training mask, the model's arrays
	// predicted is the peak memory that was expected before the start.
	predicted int64
}

func newSession(e *engine.Engine, g *graphs.Graph, split int, c Config) (*session, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if g.NumNodes == 0 || g.NumFeatures == 0 || g.NumClasses < 2 {
		return nil, fmt.Errorf("graph %q has %d nodes, %d features and %d classes: training needs a node, a feature and two classes at least", g.Name, g.NumNodes, g.NumFeatures, g.NumClasses)
	}
	if split < 0 || split >= len(g.Splits) {
		return nil, fmt.Errorf("graph %q has no split %d: its splits are numbered 0 to %d", g.Name, split, len(g.Splits)-1)
	}
	memory, err := reserve(e, g, c)
	if err != nil {
		return nil, err
	}
	m, err := models.New(c.Config, g)
	if err != nil {
		return nil, err
	}
	s := &session{engine: e, predicted: memory.Bytes, graph: g, model: m, config: c.Resolved(), split: g.Splits[split], store: model.NewStore(), params: m.Parameters()}
	if none(s.split.Train) {
		return nil, fmt.Errorf("graph %q: split %d has no training nodes", g.Name, split)
	}
	n := g.NumNodes
	labels := make([]float32, n)
	mask := make([]float32, n)
	for i := range labels {
		labels[i] = float32(g.Labels[i])
		if s.split.Train[i] {
			mask[i] = 1
		}
	}
	order := m.Order
	s.inputs = []any{
		tensors.FromFlatDataAndDimensions(sparse.Permute(order, labels, 1), n, 1),
		tensors.FromFlatDataAndDimensions(sparse.Permute(order, mask, 1), n, 1),
	}
	for _, t := range m.Arrays {
		s.inputs = append(s.inputs, t)
	}
	debug.FreeOSMemory() // what loading and layout took, for the engine to have
	return s, s.draw(c.Seed + uint64(split))
}

// draw creates the parameters from a seed.
func (s *session) draw(seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, 0x7265766e6e)) // any fixed second word
	for _, p := range s.arrays() {
		v, err := s.store.RootScope().CreateVariable(p.Name, p.Init(rng))
		if err != nil {
			return fmt.Errorf("parameter %s cannot be created: %w", p.Name, err)
		}
		v.SetTrainable(false)
	}
	for _, p := range s.params {
		s.variable(p).SetTrainable(true)
		if p.StartNorm > 0 {
			if err := rescale(s.variable(p), p, func(norm float64) float64 { return min(1, p.StartNorm/norm) }); err != nil {
				return err
			}
		}
	}
	return s.store.SetRNGStateFromSeed(int64(seed))
}

// arrays are the parameters and what else belongs to the model.
func (s *session) arrays() []models.Param { return slices.Concat(s.params, s.model.Buffers()) }

func (s *session) variable(p models.Param) *model.Variable {
	return s.store.RootScope().GetVariable(p.Name)
}

// built is the loss, a scalar, beside the model's outputs.
type built struct {
	*models.Output
	loss *Node
}

// build adds the model and its loss over the training nodes to a graph: the mean of the cross-entropy, or of the binary
// cross-entropy with logits for two classes (paper section 4.1.2).
func (s *session) build(scope *model.Scope, in []*Node, training bool) built {
	g := in[0].Graph()
	s.store.SetTraining(g, training)
	out := s.model.Build(scope, in[2:])
	labels, mask := in[0], in[1]
	var each *Node
	if s.model.Outputs == 1 {
		z := out.Logits
		each = Add(Sub(Max(z, ZerosLike(z)), Mul(z, labels)), Log1p(Exp(Neg(Abs(z)))))
	} else {
		classes := Iota(g, out.Logits.Shape(), 1)
		chosen := Where(Equal(classes, BroadcastToShape(labels, classes.Shape())), LogSoftmax(out.Logits, 1), ZerosLike(out.Logits))
		each = Neg(ReduceAndKeep(chosen, ReduceSum, 1))
	}
	return built{out, Div(ReduceAllSum(Mul(each, mask)), ReduceAllSum(mask))}
}

// gradients of the loss by all parameters, in the order of s.params.
func (s *session) gradients(loss *Node) []*Node {
	values := make([]*Node, len(s.params))
	for i, p := range s.params {
		values[i] = s.variable(p).NodeValue(loss)
	}
	return Gradient(loss, values...)
}

// The first outputs of step; then come the parameters before the step.
const (
	outLoss = iota
	outLogits
	outIterations
	outAdjointIterations
	outResidual
	outLayer
	outAdjointResidual
	outOutcome
	outParams
)

// step is one step of Adam on the training loss.
func (s *session) step(scope *model.Scope, in []*Node) []*Node {
	g := in[0].Graph()
	b := s.build(scope, in, true)
	gradients := s.gradients(b.loss)
	byName := map[string]*Node{}
	before := make([]*Node, len(s.params))
	for i, p := range s.params {
		value := s.variable(p).NodeValue(g)
		before[i] = value
		byName[p.Name] = gradients[i]
		if s.config.WeightDecay > 0 {
			byName[p.Name] = Add(gradients[i], MulScalar(value, s.config.WeightDecay))
		}
	}
	// The optimiser takes gradients in the order of the store's variables.
	var ordered []*Node
	for v := range scope.IterVariables() {
		if v.Trainable && v.InUseByGraph(g) {
			ordered = append(ordered, byName[v.Name()])
		}
	}
	adam := optimizer.Adam().LearningRate(s.config.LearningRate).Epsilon(1e-8).Done()
	adam.(gomlx.OptimizeWithGradients).UpdateGraphWithGradients(scope, ordered, b.loss.DType())
	for _, p := range s.params {
		if p.Bounded {
			v := s.variable(p)
			v.SetNodeValue(layers.Bound(v.NodeValue(g), p.Heads, s.config.Lipschitz))
		}
	}
	stats := b.Stats
	return append([]*Node{b.loss, b.Logits, stats.Iterations, stats.AdjointIterations, stats.Residual, stats.Layer, stats.AdjointResidual, stats.Outcome}, before...)
}

// explain says in a sentence why the model could not be computed, for its outcome; it is empty if it could.
func (s *session) explain(outcome *tensors.Tensor) string {
	return s.model.Explain(int(tensors.ToScalar[int32](outcome)))
}

// rescale multiplies a variable's value by a factor that depends on the mean of its heads' Frobenius norms.
func rescale(v *model.Variable, p models.Param, factor func(norm float64) float64) error {
	t, err := v.Value()
	if err != nil {
		return err
	}
	values, err := tensors.CopyFlatData[float32](t)
	if err != nil {
		return err
	}
	norm, heads := 0.0, max(1, p.Heads)
	for head := range slices.Chunk(values, len(values)/heads) {
		norm += frobenius(head) / float64(heads)
	}
	by := factor(norm)
	for i := range values {
		values[i] = float32(by * float64(values[i]))
	}
	return v.SetValue(tensors.FromFlatDataAndDimensions(values, p.Shape...))
}

// once compiles a graph on the session's inputs and runs it a single time; what names it in errors.
func (s *session) once(what string, graph func(scope *model.Scope, in []*Node) []*Node) ([]*tensors.Tensor, error) {
	exec, err := model.NewExec(s.engine.Backend, s.store, graph)
	if err != nil {
		return nil, fmt.Errorf("the %s cannot be built: %w", what, err)
	}
	defer exec.Finalize()
	out, err := exec.Call(s.inputs...)
	if err != nil {
		return nil, fmt.Errorf("the %s failed on %s: %w", what, s.engine.Name, err)
	}
	return out, nil
}

// release frees results on the engine.
func release(out []*tensors.Tensor) {
	for _, t := range out {
		t.MustFinalizeAll()
	}
}

// close releases the arrays on the engine.
func (s *session) close() {
	s.store.Finalize()
	for _, in := range s.inputs {
		in.(*tensors.Tensor).MustFinalizeAll()
	}
}
