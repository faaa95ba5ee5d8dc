package models

import (
	"math"
	"math/rand/v2"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// Model is a model for the nodes of one graph. Its parameters have the names and shapes of the authors' PyTorch
// implementation; matrices of linear maps are [out, in].
type Model struct {
	Config Config
	// Adjacency is the normalised adjacency; what the model reads and returns per node is in its order.
	Adjacency *sparse.Matrix
	// Features and Outputs per node; Outputs is 1 for two classes.
	Features, Outputs int
}

// New prepares a model for a graph.
func New(c Config, g *graphs.Graph) (*Model, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	adjacency, err := sparse.SymNorm(g)
	if err != nil {
		return nil, err
	}
	outputs := g.NumClasses
	if outputs == 2 {
		outputs = 1
	}
	return &Model{c.Resolved(), adjacency, g.NumFeatures, outputs}, nil
}

// Param is a trainable array and how it starts: uniform in ±Limit, or all Value where Limit is 0.
type Param struct {
	Name         string
	Shape        []int
	Limit, Value float64
	// Bounded marks weights whose Frobenius norm is projected to at most Config.Lipschitz after every step; StartNorm, if
	// not 0, is the largest norm to start with.
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
	list := linear("in_", m.Features, c.Hidden)
	weight := Param{Name: m.weight(), Shape: []int{c.Hidden, c.Hidden}, Limit: math.Sqrt(3 / float64(c.Hidden))}
	if c.HasReverse() {
		weight.Bounded = c.Normalise == "project"
		weight.StartNorm = startNorm(c)
	}
	list = append(list, Param{Name: "stack.0.body.bias", Shape: []int{c.Hidden}}, weight)
	width := m.width()
	if c.Norm != "none" {
		list = append(list, Param{Name: "out_norm.weight", Shape: []int{width}, Value: 1}, Param{Name: "out_norm.bias", Shape: []int{width}})
	}
	for _, l := range m.head() {
		list = append(list, linear(l.name, l.in, l.out)...)
	}
	return list
}

// startNorm is the Frobenius norm that the convolution's weight starts with: min(c, sqrt(d)/64), so that each layer starts
// close to the identity, as is usual in deep residual networks (Zhang, Dauphin and Ma, ICLR 2019). Reverse layers can grow
// what they are given: a random d x d matrix of norm s has eigenvalues up to about s/sqrt(d) (the circular law), and depth
// layers grow features by up to exp(depth s/sqrt(d)), beyond single precision for 1024 layers of width 64 at norm 1; from
// this start by at most exp(16). Adam moves the norm to the bound within some ten steps.
func startNorm(c Config) float64 {
	return min(c.Lipschitz, math.Sqrt(float64(c.Hidden))/64)
}

// weight is the name of the convolution's weight: PyTorch's reparametrisation calls the raw one "weight_orig".
func (m *Model) weight() string {
	if m.Config.HasReverse() && m.Config.Normalise == "reparametrise" {
		return "stack.0.body.lin.weight_orig"
	}
	return "stack.0.body.lin.weight"
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
	// Stats of the reverse process, nil in plain models.
	Stats *solve.Stats
}

// Build adds the model to a graph: its parameters are variables of scope, which must exist; x are the features [n,
// Features] and adjacency the nodes of Adjacency.Tensors(). Dropout is active where the scope is in training.
//
//	H = dropout(ReLU(X W_in + b)),  Y = head(norm( f∘…∘f(H) ‖ g∘…∘g(H) )),  f(H) = H + ReLU(Â H W + b), g = f^-1
//
// (paper section 3.1; ReLU and dropout commute).
func (m *Model) Build(scope *model.Scope, x *Node, adjacency []*Node) *Output {
	c := m.Config
	h := m.encode(scope, x)
	block, w := m.block(scope, x.Graph(), adjacency)
	out := &Output{Representation: solve.ForwardChain(block, h, w, c.Forward)}
	if c.HasReverse() {
		options := solve.Options{Tolerance: c.Tolerance, MaxIterations: c.MaxIterations, Order: solve.DefaultOrder}
		chain := solve.ReverseChain
		if c.Adjoint == "unrolled" {
			chain = solve.ReverseChainUnrolled
		}
		var reverse *Node
		reverse, out.Stats = chain(block, h, w, c.Reverse, options)
		out.Representation = Concatenate([]*Node{out.Representation, reverse}, 1)
	}
	out.Logits = m.readout(scope, m.norm(scope, out.Representation))
	return out
}

// encode is the input of the first layer: dropout(ReLU(X W_in + b)).
func (m *Model) encode(scope *model.Scope, x *Node) *Node {
	h := m.dropout(scope, m.linear(scope, "in_", x))
	return Max(h, ZerosLike(h))
}

// block is the residual branch and its weights, bounded where the model reparametrises them.
func (m *Model) block(scope *model.Scope, g *Graph, adjacency []*Node) (solve.Block, []*Node) {
	weight := m.value(scope, g, m.weight())
	if m.Config.HasReverse() && m.Config.Normalise == "reparametrise" {
		weight = layers.Bound(weight, m.Config.Lipschitz)
	}
	return layers.GCN{Adjacency: m.Adjacency}, append([]*Node{Transpose(weight, 0, 1), m.value(scope, g, "stack.0.body.bias")}, adjacency...)
}

// RoundTrip is the encoded input, and what Forward layers and as many reverse layers of exactly MaxIterations iterations
// make of it, with the mean change in each iteration (see [solve.Profile]).
func (m *Model) RoundTrip(scope *model.Scope, x *Node, adjacency []*Node) (start, end, changes *Node) {
	start = m.encode(scope, x)
	block, w := m.block(scope, x.Graph(), adjacency)
	y := solve.ForwardChain(block, start, w, m.Config.Forward)
	end, changes = solve.Profile(block, y, w, m.Config.Forward, m.Config.MaxIterations)
	return start, end, changes
}
