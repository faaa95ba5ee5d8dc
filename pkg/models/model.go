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
	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// Model is a classifier of nodes, prepared for one graph.
type Model struct {
	Config Config
	// Order is the order of the nodes in all arrays that the model reads and returns.
	Order sparse.Order
	// Arrays are arguments of the compiled program: first those of the node features, then those of Network.Prepare.
	Arrays []*tensors.Tensor
	// Features is the number of features of a node. Outputs is the number of logits of a node: 1 for two classes, else
	// Classes.
	Features, Outputs, Classes int
	// Deterministic turns off all randomness of training, such as dropout.
	Deterministic bool
	Network       Network
	features      features
}

func New(c Config, g *graphs.Graph) (m *Model, err error) {
	defer Recovered(&err)
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c, g = c.Resolved(), c.InputGraph(g)
	if g.ArcsMissing != "" {
		return nil, fmt.Errorf("model %s reads the directions of edges, which %s is here without: %s; "+
			"or leave them out by the setting undirected", c.Model, g.Name, g.ArcsMissing)
	}
	m = &Model{Config: c, Features: g.NumFeatures, Outputs: g.NumClasses, Classes: g.NumClasses,
		Network: registry[c.Model].New(c)}
	if m.Outputs == 2 {
		m.Outputs = 1
	}
	var a Arrays
	m.Network.Prepare(g, &a)
	if a.Order == nil {
		a.Order = sparse.AsGiven(g.NumNodes)
	}
	m.features = newFeatures(g, a.Order, m.dropsFeatures())
	m.Order, m.Arrays = a.Order, slices.Concat(m.features.arrays, a.all)
	return m, nil
}

// failure is an error, as opposed to a panic of GoMLX, whose message needs no addition.
type failure struct{ error }

// must panics with a [failure].
func must[T any](v T, err error) T {
	if err != nil {
		panic(failure{err})
	}
	return v
}

// Recovered is deferred by functions that prepare a network or build its graph, and makes errors of their panics.
func Recovered(err *error) {
	switch p := recover().(type) {
	case nil:
	case failure:
		*err = p.error
	case error:
		*err = fmt.Errorf("the computation graph cannot be built: %w", p)
	default:
		panic(p)
	}
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

// Declaration is what [Model.Declare] finds out.
type Declaration struct {
	// Params are what the network declared by [Builder.Param]. Parameters of GoMLX's own layers are not among them.
	Params []Param
	// Variables are all variables of the model, in the order in which they were made.
	Variables []*model.Variable
	// Separate says that the model computes differently in training and in evaluation, by dropout or by statistics that
	// it gathers.
	Separate bool
	Solves   int
}

// Declare makes the model's variables in a store, with initial values of the parameters by start, by building the model
// once in a graph that is thrown away. GoMLX's own layers use their own initialisers.
func (m *Model) Declare(backend compute.Backend, store *model.Store,
	start func(Param) (*tensors.Tensor, error)) (d Declaration, err error) {
	defer Recovered(&err)
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
	d.Solves = m.Network.Build(b).Solves
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

// Network is the computation of a model for one graph. The function New of a [Kind] makes it.
type Network interface {
	// Prepare lays out what the network needs for message passing on a graph, such as an adjacency matrix.
	Prepare(g *graphs.Graph, a *Arrays)
	// Build adds the network to a computation graph, for training or for evaluation. Like GoMLX's functions, it panics if
	// it cannot.
	Build(b *Builder) Output
}

// Arrays are what [Network.Prepare] lays out. Its methods panic where they cannot.
type Arrays struct {
	// Order is the order of the nodes in all arrays of the model. The first matrix or pattern chooses it; without one, it
	// is the dataset's.
	Order sparse.Order
	all   []*tensors.Tensor
}

// Add adds an array, which [Builder.Array] finds.
func (a *Arrays) Add(t *tensors.Tensor) *tensors.Tensor {
	a.all = append(a.all, t)
	return t
}

// Rows adds an array with a row of the given width for each node, from values in the dataset's order.
func (a *Arrays) Rows(values []float32, width int) *tensors.Tensor {
	return a.Add(tensors.FromFlatDataAndDimensions(sparse.Permute(a.Order, values, width), len(values)/width, width))
}

// Matrix adds a square matrix, for [Builder.Matrix].
func (a *Arrays) Matrix(c *sparse.CSR) *sparse.Matrix {
	m := must(sparse.NewMatrix(c, a.Order))
	a.Order, a.all = m.Order(), append(a.all, m.Tensors()...)
	return m
}

// Rectangular adds a matrix with other orders of rows and columns; nil is that of their numbers.
func (a *Arrays) Rectangular(c *sparse.CSR, rows, columns sparse.Order) *sparse.Matrix {
	m := must(sparse.NewRectangular(c, rows, columns))
	a.all = append(a.all, m.Tensors()...)
	return m
}

// Pattern adds the pattern of a square matrix, for [Builder.Edges].
func (a *Arrays) Pattern(c *sparse.CSR, o sparse.PatternOptions) *sparse.Pattern {
	o.Order = a.Order
	p := must(sparse.NewPattern(c, o))
	a.Order, a.all = p.Order(), append(a.all, p.Tensors()...)
	return p
}

// Output is the result of a network, with nodes in the model's order.
type Output struct {
	// Logits are [n, Outputs]. Representation, [n, width], is what the head reads, the last linear layer or layers.
	Logits, Representation *Node
	// Stats are those of all solves of the reverse process or, for GRAND, of its integrations, or nil. Solves is the
	// number of solves in one forward pass, 1 for GRAND.
	Stats  *solve.Stats
	Solves int
	// Penalty is a scalar that training adds to the classification loss, or nil.
	Penalty *Node
}

// Inverter is a network whose forward process can be undone.
type Inverter interface {
	Network
	// RoundTrip applies the forward layers to start, the encoded input, and then the inverses of these layers, which
	// gives end. changes has an entry for each fixed-point iteration, the mean absolute change averaged over the layers
	// ([solve.Profile]); it is nil for GRAND, where stats.Outcome tells whether the integrations succeeded.
	RoundTrip(b *Builder) (start, end, changes *Node, stats *solve.Stats)
}

// Tracer is a network of layers that returns states: the features of all nodes, [n, d], after a number of layers.
type Tracer interface {
	Network
	// Trace returns the states after forward[i] forward layers, and after reverse[i] reverse layers, in evaluation. After
	// 0 layers, the state is the encoded input. Numbers ascend.
	Trace(b *Builder, forward, reverse []int) (forwards, reverses []*Node)
	// Readout is what the head computes from two states, [n, Outputs]. It reads zeros in place of a state that is nil
	// (paper section 4.1.3, "Qualitative Analysis"). Models without a reverse process ignore reverse.
	Readout(b *Builder, forward, reverse *Node) *Node
}
