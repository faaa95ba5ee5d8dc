package models

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// Model is a classifier of nodes that is prepared for one graph.
type Model struct {
	Config Config
	// Order is the order of the nodes in all arrays that the model reads and returns.
	Order sparse.Order
	// Arrays are the arrays of the node features, followed by the arrays that Network.Prepare returned. The compiled
	// program gets them as arguments. In the computation graph, values of the type *Node stand for them. These values
	// are an argument of [Model.Builder].
	Arrays []*tensors.Tensor
	// Features is the number of features of each node. Classes is the number of classes. Outputs is the number of
	// logits of each node. For two classes, Outputs is 1. For more classes, it equals Classes.
	Features, Outputs, Classes int
	// Still turns off all randomness of training, such as dropout.
	Still bool
	// Network is the network that the model's [Kind] has made.
	Network  Network
	features features
}

func New(c Config, g *graphs.Graph) (*Model, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c, g = c.Resolved(), Seen(c, g)
	if g.ArcsMissing != "" {
		return nil, fmt.Errorf("model %s reads the directions of edges, which %s is here without: %s; "+
			"or leave them out by the setting undirected", c.Model, g.Name, g.ArcsMissing)
	}
	m := &Model{Config: c, Features: g.NumFeatures, Outputs: g.NumClasses, Classes: g.NumClasses,
		Network: registry[c.Model].New(c)}
	if m.Outputs == 2 {
		m.Outputs = 1
	}
	order, arrays, err := m.Network.Prepare(g)
	if err != nil {
		return nil, err
	}
	if m.features, err = newFeatures(g, order, m.dropsFeatures()); err != nil {
		return nil, err
	}
	m.Order, m.Arrays = order, slices.Concat(m.features.arrays, arrays)
	return m, nil
}

// Seen is the graph as the model sees it: without directions, unless its setting "undirected" is there and false.
func Seen(c Config, g *graphs.Graph) *graphs.Graph {
	if registry[c.Model].Has("undirected") && !c.Undirected {
		return g
	}
	return g.Undirected()
}

// Builder adds the model to a computation graph. scope has its parameters, and arrays stand for [Model.Arrays].
func (m *Model) Builder(scope *model.Scope, arrays []*Node) *Builder {
	split := len(m.features.arrays)
	b := &Builder{Model: m, Scope: scope, Graph: arrays[0].Graph(), arrays: arrays, features: arrays[:split]}
	if m.dropsFeatures() {
		b.features = m.features.dropped(b, b.features)
	}
	return b
}

func (m *Model) dropsFeatures() bool {
	return registry[m.Config.Model].DropFeatures && m.Config.Dropout > 0
}

func (m *Model) Build(scope *model.Scope, arrays []*Node) Output {
	return m.Network.Build(m.Builder(scope, arrays))
}

// Explain says why the computation with the outcome Output.Stats.Outcome failed, or "".
func (m *Model) Explain(outcome int) string {
	if e, ok := m.Network.(Explainer); ok {
		return e.Explain(outcome)
	}
	return ""
}

// Pretraining is the number of epochs of pretraining; see [Pretrainer].
func (m *Model) Pretraining() int { return pretraining(m.Network, m.Config) }

func (c Config) Pretraining() int {
	c = c.Resolved()
	return pretraining(registry[c.Model].New(c), c)
}

func pretraining(n Network, c Config) int {
	if p, ok := n.(Pretrainer); ok {
		return p.Pretraining(c)
	}
	return 0
}

// Declaration is what [Model.Declare] finds out.
type Declaration struct {
	// Params are the parameters that the network declared by [Builder.Param]. Parameters of GoMLX's own layers are not
	// among them.
	Params []Param
	// Variables are all variables of the model, in the order in which they were made. Checkpoints hold all of them.
	Variables []*model.Variable
	// Separate tells whether the model computes differently in training and in evaluation. It does so if it has
	// dropout, or if it gathers statistics in training.
	Separate bool
	// Solves is the number of solves in one forward pass of the network: see [Output].
	Solves int
}

// Declare makes the model's variables in a store, with initial values of the parameters by start, by building the model
// once in a graph that is thrown away. GoMLX's own layers use their own initialisers.
func (m *Model) Declare(backend compute.Backend, store *model.Store,
	start func(Param) (*tensors.Tensor, error)) (d Declaration, err error) {
	before := map[*model.Variable]bool{}
	for v := range store.IterVariables() {
		before[v] = true
	}
	g := NewGraph(backend, "declaration of "+m.Config.Model)
	defer g.Finalize()
	model.SetStore(g, store)
	store.SetTraining(g, true)
	arrays := make([]*Node, len(m.Arrays))
	for i, t := range m.Arrays {
		arrays[i] = Parameter(g, fmt.Sprintf("array%d", i), t.Shape())
	}
	b := m.Builder(store.RootScope(), arrays)
	b.start = start
	if d.Solves, err = b.declare(); err != nil {
		return d, err
	}
	d.Params = b.params
	for v := range store.IterVariables() {
		d.Separate = d.Separate || v.ChangedInGraph(g)
		if !before[v] {
			d.Variables = append(d.Variables, v)
		}
	}
	return d, store.InitializeVariables(backend, nil)
}

// Parameters lists the arrays of a model with their shapes, for a graph of two nodes: only those with an entry per node
// ([Param.Nodes]) have others elsewhere (ParametersOn).
func Parameters(c Config, features, classes int) ([]Param, error) {
	// Any graph would do, since no shape depends on the edges. (The arrays with an entry for every node are listed with
	// their shapes for two nodes, as the comment on Parameters says.)
	ones := slices.Repeat([]float32{1}, 2*features)
	g, err := graphs.New("two nodes", 2, []graphs.Edge{{0, 1}}, ones, features, []int32{0, 1}, classes, nil)
	if err != nil {
		return nil, err
	}
	return ParametersOn(c, g)
}

func ParametersOn(c Config, g *graphs.Graph) ([]Param, error) {
	e, err := engine.Open(engine.Go)
	if err != nil {
		return nil, err
	}
	m, err := New(c, g)
	if err != nil {
		return nil, err
	}
	store := model.NewStore()
	defer store.Finalize()
	if err := store.SetRNGStateFromSeed(0); err != nil {
		return nil, err
	}
	d, err := m.Declare(e.Backend, store, Param.Zeros)
	for _, v := range d.Variables {
		name := NameOf(v)
		if !slices.ContainsFunc(d.Params, func(p Param) bool { return p.Name == name }) {
			d.Params = append(d.Params, Param{Name: name, Shape: v.Shape().Dimensions, Fixed: !v.Trainable})
		}
	}
	return d.Params, err
}

// NameOf is the name that a variable has in files of weights.
func NameOf(v *model.Variable) string { return strings.TrimPrefix(v.Path(), model.ScopeSeparator) }

// Unused lists the arrays that a file of weights may have beside those that the model reads; see [Twin].
func Unused(c Config) []string {
	k, err := Lookup(c.Model)
	if err != nil {
		return nil
	}
	if t, ok := k.New(c).(Twin); ok {
		return t.Unused()
	}
	return nil
}
