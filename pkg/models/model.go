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

// Model is a model for the nodes of one graph.
type Model struct {
	Config Config
	// Order is the nodes' order in what the model reads and returns.
	Order sparse.Order
	// Arrays are the features and what the network has laid out, to be passed to the graph for [Model.Builder].
	Arrays []*tensors.Tensor
	// Features and Outputs are numbers per node; Classes is the number of classes. Outputs is 1 for two classes.
	Features, Outputs, Classes int
	// Still leaves out what training draws at random, such as dropout.
	Still bool
	// Network is what the model's kind has made.
	Network  Network
	features features
}

// New prepares a model for a graph.
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

// Seen is the graph as a model sees it: without the directions of edges, unless the model reads them. Those models have
// the setting "undirected", and read directions where there are any as long as it is false.
func Seen(c Config, g *graphs.Graph) *graphs.Graph {
	if registry[c.Model].Has("undirected") && !c.Undirected {
		return g
	}
	return g.Undirected()
}

// Builder is the model in a graph: its parameters are variables of scope, arrays are the nodes of Arrays. Dropout is
// active where the scope is in training.
func (m *Model) Builder(scope *model.Scope, arrays []*Node) *Builder {
	split := len(m.features.arrays)
	b := &Builder{Model: m, Scope: scope, Graph: arrays[0].Graph(), Arrays: arrays[split:], features: arrays[:split]}
	if m.dropsFeatures() {
		b.features = m.features.dropped(b, b.features)
	}
	return b
}

// dropsFeatures tells whether node features are dropped in training.
func (m *Model) dropsFeatures() bool {
	return registry[m.Config.Model].DropFeatures && m.Config.Dropout > 0
}

// Build adds the model to a graph; see [Model.Builder].
func (m *Model) Build(scope *model.Scope, arrays []*Node) Output {
	return m.Network.Build(m.Builder(scope, arrays))
}

// Explain says in a sentence why what the model computed means nothing, for an Output.Stats.Outcome; it
// is empty where all is well.
func (m *Model) Explain(outcome int) string {
	if e, ok := m.Network.(Explainer); ok {
		return e.Explain(outcome)
	}
	return ""
}

// Pretraining is the number of epochs in which a part of the model is trained alone; see [Pretrainer].
func (m *Model) Pretraining() int {
	if p, ok := m.Network.(Pretrainer); ok {
		return p.Pretraining(m.Config)
	}
	return 0
}

// Declaration lists what a model keeps in a store of variables.
type Declaration struct {
	// Params are the parameters that the network declared itself; GoMLX's own layers have others.
	Params []Param
	// Variables are all variables of the model, in the order in which they were made: what a training keeps.
	Variables []*model.Variable
	// Separate tells that evaluation differs from training, by dropout or by statistics that training gathers.
	Separate bool
	// Solves is Output.Solves.
	Solves int
}

// Declare makes a model's variables in a store, by building the model once in training mode in a graph that is thrown
// away. start gives the initial values of the network's own parameters; GoMLX's layers use their initialisers.
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

// Parameters lists a model's arrays for graphs with so many features and classes, without needing a graph: the
// network's own parameters and those of GoMLX's layers. Arrays with an entry for every node ([Param.Nodes]) are listed
// as for two nodes; see [ParametersOn].
func Parameters(c Config, features, classes int) ([]Param, error) {
	// No other shape depends on the number of nodes or edges, so that a graph of two nodes and one edge will do.
	ones := slices.Repeat([]float32{1}, 2*features)
	g, err := graphs.New("two nodes", 2, []graphs.Edge{{0, 1}}, ones, features, []int32{0, 1}, classes, nil)
	if err != nil {
		return nil, err
	}
	return ParametersOn(c, g)
}

// ParametersOn lists a model's arrays for a given graph.
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

// Unused names arrays that files of a model's weights may hold though nothing reads them.
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

// LayerOf is the zero value of the type of the model's layers, such as layers.GCN{}; nil where its layers differ in
// type or it has none.
func LayerOf(c Config) any {
	k, err := Lookup(c.Model)
	if err != nil {
		return nil
	}
	if l, ok := k.New(c).(Layered); ok {
		return l.Layer()
	}
	return nil
}
