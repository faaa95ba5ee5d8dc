package models

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// Model is a model for the nodes of one graph. Its parameters have the names and shapes of the authors' PyTorch
// implementation; matrices of linear maps are [out, in].
type Model struct {
	Config Config
	// Order is the nodes' order in what the model reads and returns.
	Order sparse.Order
	// Arrays are the features and the adjacency, to be passed to the graph for [Model.Build].
	Arrays []*tensors.Tensor
	// Features and Outputs per node; Outputs is 1 for two classes.
	Features, Outputs int
	features          features
	backbone          backbone
}

// backbone is what differs between the models: the message passing between encoder and head.
type backbone interface {
	// adjacency prepares the matrix that messages pass along: its order, and the arrays that the backbone needs in the graph.
	adjacency(g *graphs.Graph) (sparse.Order, []*tensors.Tensor, error)
	// params are the trainable arrays between encoder and head.
	params(c Config) []Param
	// encoder is the name of the encoder's linear layer, and head that of the head's layer number i of n.
	encoder() string
	head(i, n int) string
	// represent makes the representation out of the encoded features.
	represent(m *Model, scope *model.Scope, h *Node, adjacency []*Node) (representation *Node, stats *solve.Stats)
	// roundTrip passes the encoded features forwards and back again; changes tells about the iterations of the way back, and
	// is nil where there are none.
	roundTrip(m *Model, scope *model.Scope, h *Node, adjacency []*Node) (end, changes *Node, stats *solve.Stats)
}

// Unbound is a model for graphs with so many features and classes, of which no more is known than its parameters.
func Unbound(c Config, features, classes int) (*Model, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	m := &Model{Config: c.Resolved(), Features: features, Outputs: classes}
	if m.Outputs == 2 {
		m.Outputs = 1
	}
	switch strings.TrimSuffix(c.Model, "+rep") {
	case GCN:
		m.backbone = residual{&gcn{}}
	case GAT:
		m.backbone = residual{&gat{heads: c.Heads}}
	case GRAND:
		m.backbone = &grand{}
	}
	return m, nil
}

// New prepares a model for a graph.
func New(c Config, g *graphs.Graph) (*Model, error) {
	m, err := Unbound(c, g.NumFeatures, g.NumClasses)
	if err != nil {
		return nil, err
	}
	order, adjacency, err := m.backbone.adjacency(g)
	if err != nil {
		return nil, err
	}
	if m.features, err = newFeatures(g, order); err != nil {
		return nil, err
	}
	m.Order, m.Arrays = order, slices.Concat(m.features.arrays, adjacency)
	return m, nil
}

// Param is a trainable array and how it starts: uniform in ±Limit, or all Value where Limit is 0.
type Param struct {
	Name         string
	Shape        []int
	Limit, Value float64
	// Heads is the number of matrices below each other in it, 0 or 1 for one. Bounded marks weights the mean of whose
	// heads' Frobenius norms is projected to at most Config.Lipschitz after every step; StartNorm, if not 0, is the largest
	// such mean to start with.
	Heads     int
	Bounded   bool
	StartNorm float64
}

// Parameters lists the trainable arrays. Linear layers start as in PyTorch, uniform in ±1/sqrt(in) (He et al. 2015 with
// a = sqrt 5); the convolution's weight as in PyTorch Geometric, uniform in ±sqrt(6/(in+out)) (Glorot and Bengio 2010).
func (m *Model) Parameters() []Param {
	c := m.Config
	linear := func(name string, in, out int) []Param {
		limit := 1 / math.Sqrt(float64(in))
		return []Param{{Name: name + ".weight", Shape: []int{out, in}, Limit: limit}, {Name: name + ".bias", Shape: []int{out}, Limit: limit}}
	}
	list := append(linear(m.backbone.encoder(), m.Features, c.Hidden), m.backbone.params(c)...)
	width := m.width()
	if c.Norm != "none" {
		list = append(list, Param{Name: "out_norm.weight", Shape: []int{width}, Value: 1}, Param{Name: "out_norm.bias", Shape: []int{width}})
	}
	for _, l := range m.head() {
		list = append(list, linear(l.name, l.in, l.out)...)
	}
	return list
}

// width of the representation.
func (m *Model) width() int {
	if m.Config.HasReverse() {
		return 2 * m.Config.Hidden
	}
	return m.Config.Hidden
}

// Init draws the parameter's start.
func (p Param) Init(rng *rand.Rand) *tensors.Tensor {
	size := 1
	for _, d := range p.Shape {
		size *= d
	}
	values := make([]float32, size)
	for i := range values {
		values[i] = float32(p.Value)
		if p.Limit > 0 {
			values[i] = float32((2*rng.Float64() - 1) * p.Limit)
		}
	}
	return tensors.FromFlatDataAndDimensions(values, p.Shape...)
}

// Output of a model, per node in the adjacency's order.
type Output struct {
	// Logits are [n, Outputs].
	Logits *Node
	// Representation is what the head reads: forward ‖ reverse, [n, 2d]; [n, d] in plain models.
	Representation *Node
	// Stats of the reverse process, all zero in plain models.
	Stats *solve.Stats
}

// Build adds the model to a graph: its parameters are variables of scope, which must exist; arrays are the nodes of Arrays. Dropout
// is active where the scope is in training.
//
//	H = dropout(ReLU(X W_in + b)),  Y = head(norm( f∘…∘f(H) ‖ g∘…∘g(H) )),  g = f^-1
//
// (paper section 3.1; ReLU and dropout commute).
func (m *Model) Build(scope *model.Scope, arrays []*Node) *Output {
	out := &Output{}
	x, adjacency := m.encode(scope, arrays)
	out.Representation, out.Stats = m.backbone.represent(m, scope, x, adjacency)
	out.Logits = m.readout(scope, m.norm(scope, out.Representation))
	return out
}

// RoundTrip is the encoded input, and what the way forwards and back again make of it: Forward layers and as many reverse
// layers of exactly MaxIterations iterations, with the mean change in each iteration (see [solve.Profile]); or, of GRAND, an
// integration to Time and back, without changes.
func (m *Model) RoundTrip(scope *model.Scope, arrays []*Node) (start, end, changes *Node, stats *solve.Stats) {
	start, adjacency := m.encode(scope, arrays)
	end, changes, stats = m.backbone.roundTrip(m, scope, start, adjacency)
	return start, end, changes, stats
}

// encode is the input of the first layer, dropout(ReLU(X W_in + b)), beside the nodes of the adjacency.
func (m *Model) encode(scope *model.Scope, arrays []*Node) (h *Node, adjacency []*Node) {
	split, g := len(m.features.arrays), arrays[0].Graph()
	w := m.value(scope, g, m.backbone.encoder()+".weight")
	h = m.dropout(scope, m.biased(scope, m.backbone.encoder(), m.features.times(w, arrays[:split])))
	return Max(h, ZerosLike(h)), arrays[split:]
}
