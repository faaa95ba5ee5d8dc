package models

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/layers"
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

// New prepares a model for a graph, laid out for the engine with the given backend; nil fits every engine.
func New(c Config, g *graphs.Graph, backend compute.Backend) (m *Model, err error) {
	defer Recovered(&err)
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c, g = c.Resolved(), c.InputGraph(g)
	if g.ArcsMissing != "" {
		return nil, fmt.Errorf("model %s reads the directions of edges, which %s is here without: %s; "+
			"or leave them out by the setting undirected", c.Model, g.Name, g.ArcsMissing)
	}
	if g.Weighted() && !registry[c.Model].Weighted {
		var readers []string
		for _, k := range Kinds() {
			if k.Weighted && k.Name != "mlp" {
				readers = append(readers, k.Name)
			}
		}
		return nil, fmt.Errorf("the edges of %s have weights, which the formula of %s has no place for: choose a model that "+
			"reads them (%s), or leave them out by the setting edge-weights ignore", g.Name, c.Model,
			strings.Join(readers, ", "))
	}
	m = &Model{Config: c, Features: g.NumFeatures, Outputs: g.NumClasses, Classes: g.NumClasses,
		Network: registry[c.Model].New(c)}
	if m.Outputs == 2 {
		m.Outputs = 1
	}
	a := Arrays{layout: sparse.LayoutFor(backend)}
	m.Network.Prepare(g, &a)
	if a.Order == nil {
		a.Order = sparse.AsGiven(g.NumNodes)
	}
	m.features = newFeatures(g, a.Order, m.dropsFeatures(), a.layout)
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
		b.features = append([]*Node{b.Dropout(b.features[0])}, b.features[1:]...)
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
// once in a graph that is thrown away. GoMLX's own layers use their own initialisers, and the seed.
func (m *Model) Declare(backend compute.Backend, store *model.Store, seed uint64,
	start func(Param) (*tensors.Tensor, error)) (d Declaration, err error) {
	defer Recovered(&err)
	if err := store.SetRNGStateFromSeed(int64(seed)); err != nil {
		return d, err
	}
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
// ([Param.Nodes]) have others elsewhere ([DeclarationOn]).
func Parameters(c Config, features, classes int) ([]Param, error) {
	ones := slices.Repeat([]float32{1}, 2*features)
	g, err := graphs.New("two nodes", 2, []graphs.Edge{{0, 1}}, ones, features, []int32{0, 1}, classes, nil)
	if err != nil {
		return nil, err
	}
	d, err := DeclarationOn(c, g)
	return d.Params, err
}

// DeclarationOn is the declaration of a model on a graph, on the pure-Go engine and without values. Its Params include
// those of GoMLX's own layers.
func DeclarationOn(c Config, g *graphs.Graph) (d Declaration, err error) {
	e, err := engine.Open(engine.Go)
	if err != nil {
		return d, err
	}
	m, err := New(c, g, e.Backend)
	if err != nil {
		return d, err
	}
	store := model.NewStore()
	defer store.Finalize()
	d, err = m.Declare(e.Backend, store, 0, Param.Zeros)
	for _, v := range d.Variables {
		name := NameOf(v)
		if !slices.ContainsFunc(d.Params, func(p Param) bool { return p.Name == name }) {
			d.Params = append(d.Params, Param{Name: name, Shape: v.Shape().Dimensions, Fixed: !v.Trainable})
		}
	}
	return d, err
}

// NameOf is the name that a variable has in files of weights.
func NameOf(v *model.Variable) string { return strings.TrimPrefix(v.Path(), model.ScopeSeparator) }

// Network is the computation of a model for one graph. The function New of a [Kind] makes it.
type Network interface {
	// Prepare lays out what the network needs for message passing on a graph, such as an adjacency matrix.
	Prepare(g *graphs.Graph, a *Arrays)
	// Build adds the network to a computation graph, for training or for evaluation. Like GoMLX's functions, it panics
	// if it cannot.
	Build(b *Builder) Output
}

// Arrays are what [Network.Prepare] lays out. Its methods panic where they cannot.
type Arrays struct {
	// Order is the order of the nodes in all arrays of the model. The first matrix or pattern chooses it; without one,
	// it is the dataset's.
	Order  sparse.Order
	layout sparse.Layout
	all    []*tensors.Tensor
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

// ByDegree are columns, [n, len(of)], of values that depend on the sum of the weights in each row of c.
func (a *Arrays) ByDegree(c *sparse.CSR, of ...func(degree float64) float64) *tensors.Tensor {
	var values []float32
	for i := range c.Rows {
		degree := 0.0
		for _, w := range c.Weight[c.Start[i]:c.Start[i+1]] {
			degree += float64(w)
		}
		for _, f := range of {
			values = append(values, float32(f(degree)))
		}
	}
	return a.Rows(values, len(of))
}

// Matrix adds a square matrix, for [Builder.Matrix].
func (a *Arrays) Matrix(c *sparse.CSR) *sparse.Matrix {
	m := must(sparse.NewMatrix(c, a.Order, a.layout))
	a.Order, a.all = m.Order(), append(a.all, m.Tensors()...)
	return m
}

// Rectangular adds a matrix with other orders of rows and columns; nil is that of their numbers.
func (a *Arrays) Rectangular(c *sparse.CSR, rows, columns sparse.Order) *sparse.Matrix {
	m := must(sparse.NewRectangular(c, rows, columns, a.layout))
	a.all = append(a.all, m.Tensors()...)
	return m
}

// Pattern adds the pattern of a square matrix, for [Builder.Edges].
func (a *Arrays) Pattern(c *sparse.CSR, o sparse.PatternOptions) *sparse.Pattern {
	o.Order, o.Layout = a.Order, a.layout
	p := must(sparse.NewPattern(c, o))
	a.Order, a.all = p.Order(), append(a.all, p.Tensors()...)
	return p
}

// withMatrix is [Kind].New for a network that reads the graph by one matrix alone.
func withMatrix(of func(g *graphs.Graph) *sparse.CSR,
	build func(b *Builder, m sparse.Operator) Output) func(Config) Network {
	return func(Config) Network { return &matrixNet{of: of, build: build} }
}

type matrixNet struct {
	of     func(g *graphs.Graph) *sparse.CSR
	build  func(b *Builder, m sparse.Operator) Output
	matrix *sparse.Matrix
}

func (n *matrixNet) Prepare(g *graphs.Graph, a *Arrays) { n.matrix = a.Matrix(n.of(g)) }
func (n *matrixNet) Build(b *Builder) Output            { return n.build(b, b.Matrix(n.matrix)) }

// symmetric is D^-1/2 A D^-1/2 for the adjacency A and its row sums D, symmetricWithLoops the same for A + I, and
// rowMean is D^-1 A, a mean over neighbours. Rows of nodes without edges are zero.
func symmetric(g *graphs.Graph) *sparse.CSR { return sparse.Adjacency(g).SymmetricNormalised() }
func symmetricWithLoops(g *graphs.Graph) *sparse.CSR {
	return sparse.Adjacency(g).WithSelfLoops().SymmetricNormalised()
}
func rowMean(g *graphs.Graph) *sparse.CSR { return sparse.Adjacency(g).RowNormalised() }

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
	// Trace returns the states after forward[i] forward layers, and after reverse[i] reverse layers, in evaluation.
	// After 0 layers, the state is the encoded input. Numbers ascend.
	Trace(b *Builder, forward, reverse []int) (forwards, reverses []*Node)
	// Readout is what the head computes from two states, [n, Outputs]. It reads zeros in place of a state that is nil
	// (paper section 4.1.3, "Qualitative Analysis"). Models without a reverse process ignore reverse.
	Readout(b *Builder, forward, reverse *Node) *Node
}

// Param declares an array of a model. Its entries start uniform in ±Limit or, if Limit is 0, as Values or, without
// those, as Value.
type Param struct {
	// Name is that of the PyTorch implementation, if there is one. The matrix of a linear map is [out, in].
	Name         string
	Shape        []int
	Limit, Value float64
	Values       []float64
	// Fixed marks what is not trained, such as the running means of batch normalisation.
	Fixed bool
	// Heads is K if the array has a matrix [d, d] for each of K attention heads, one below the other, and else 0.
	Heads int
	// Nodes marks an array whose last axis has an entry for each node, in the dataset's order.
	Nodes bool
	// Bound, if not nil, bounds the norm. Parameters that share a Bound share the bound on the sum of their norms.
	Bound *Bound
}

// Bound is a bound on the sum of the norms of all parameters that share it; see [layers.Bound].
type Bound struct {
	Norm  layers.Norm
	Limit float64
	// Project says that training scales the weights down to the limit after every step of the optimiser. Otherwise the
	// model scales them, by [Bounded.Apply].
	Project bool
	// Start limits the Frobenius norm of each initial value, the mean over heads; 0 is no limit.
	Start float64
}

// Bounded is a bound together with the parameters that share it.
type Bounded struct {
	*Bound
	Params []Param
}

// Groups gathers the parameters with bounds, one group for each bound.
func Groups(params []Param) (groups []Bounded) {
	for _, p := range params {
		if p.Bound == nil {
			continue
		}
		i := slices.IndexFunc(groups, func(g Bounded) bool { return g.Bound == p.Bound })
		if i < 0 {
			groups, i = append(groups, Bounded{Bound: p.Bound}), len(groups)
		}
		groups[i].Params = append(groups[i].Params, p)
	}
	return groups
}

// Apply scales the values down by one factor, if the sum of their norms exceeds the limit.
func (g Bounded) Apply(values []*Node) []*Node {
	return layers.Bound(g.Norm, g.Limit, values, g.heads())
}

// Meet scales the values by one factor, so that the sum of their norms equals the limit.
func (g Bounded) Meet(values []*Node) []*Node {
	return layers.ToBound(g.Norm, g.Limit, values, g.heads())
}

func (g Bounded) heads() (heads []int) {
	for _, p := range g.Params {
		heads = append(heads, max(1, p.Heads))
	}
	return heads
}

func (p Param) size() int {
	size := 1
	for _, d := range p.Shape {
		size *= d
	}
	return size
}

// Draw is a random initial value, before [Param.Start] bounds its norm.
func (p Param) Draw(rng *rand.Rand) []float32 {
	values := make([]float32, p.size())
	for i := range values {
		values[i] = float32(p.Value)
		if p.Limit > 0 {
			values[i] = float32((2*rng.Float64() - 1) * p.Limit)
		} else if len(p.Values) > 0 {
			values[i] = float32(p.Values[i])
		}
	}
	return values
}

// Start is a random initial value, scaled down if its norm exceeds Bound.Start.
func (p Param) Start(rng *rand.Rand) *tensors.Tensor {
	values := p.Draw(rng)
	if p.Bound != nil && p.Bound.Start > 0 {
		heads, norm := max(1, p.Heads), 0.0
		for head := range slices.Chunk(values, len(values)/heads) {
			norm += layers.Frobenius(head) / float64(heads)
		}
		by := min(1, p.Bound.Start/norm)
		for i := range values {
			values[i] = float32(by * float64(values[i]))
		}
	}
	return tensors.FromFlatDataAndDimensions(values, p.Shape...)
}

// Zeros is an array of zeros with the parameter's shape.
func (p Param) Zeros() (*tensors.Tensor, error) {
	return tensors.FromFlatDataAndDimensions(make([]float32, p.size()), p.Shape...), nil
}
