package modeltest

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
)

// Dense has a small graph as dense matrices, and the parameters of a model. With these matrices, tests write down the
// formula of the model without the model's own code for message passing.
type Dense struct {
	// Graph is the computation graph of GoMLX to which all arrays below belong.
	Graph *Graph
	// A is the adjacency matrix: entry i, j is 1 if node j is a neighbour of node i. X has the features, one row for
	// each node. I is the identity matrix, of the same shape as A.
	A, X, I *Node
	// Out is the adjacency matrix of a directed graph: entry i, j is 1 if an edge leads from node i to node j. In is
	// the transpose of Out. If the graph has no directions, Out and In equal A.
	Out, In *Node
	// Known has the labels of the training nodes, as a matrix with one row for each node and one column for each class.
	// The row of a training node is 1 at the node's class and 0 elsewhere. The rows of all other nodes are 0.
	Known   *Node
	Config  models.Config
	Outputs int
	params  map[string]*Node
}

// Formula computes what a model computes in training without dropout. logits has one row for each node and d.Outputs
// columns. penalty is what the model adds to the loss, or nil if it adds nothing.
type Formula func(d *Dense) (logits, penalty *Node)

// Param returns the parameter with the given name.
func (d *Dense) Param(name string) *Node {
	p, ok := d.params[name]
	if !ok {
		panic("no parameter " + name + ": there are " + listed(d.params))
	}
	return p
}

// Linear is x W^T + b, with two parameters of the model: W is called name + ".weight", and b is called name + ".bias".
func (d *Dense) Linear(name string, x *Node) *Node {
	return Add(Dot(x, Transpose(d.Param(name+".weight"), 0, 1)).Product(), ExpandLeftToRank(d.Param(name+".bias"), 2))
}

// LayerNorm normalises each row of x, as PyTorch does, with the parameters that are called name + ".weight" and
// name + ".bias".
func (d *Dense) LayerNorm(name string, x *Node) *Node { return d.normalised(name, x, 1) }

// InstanceNorm normalises each column of x over all nodes, with the parameters that are called name + ".weight" and
// name + ".bias".
func (d *Dense) InstanceNorm(name string, x *Node) *Node { return d.normalised(name, x, 0) }

// normalised is (x - mean)/sqrt(variance + 1e-5) γ + β. The mean and the variance are over the given axis of x.
func (d *Dense) normalised(name string, x *Node, axis int) *Node {
	x = Sub(x, ReduceAndKeep(x, ReduceMean, axis))
	x = Div(x, Sqrt(AddScalar(ReduceAndKeep(Square(x), ReduceMean, axis), 1e-5)))
	return Add(Mul(x, ExpandLeftToRank(d.Param(name+".weight"), 2)), ExpandLeftToRank(d.Param(name+".bias"), 2))
}

// SymNorm is D^-1/2 A D^-1/2 for a dense adjacency A, where D is the diagonal matrix of the degrees. Rows of nodes
// without neighbours are 0.
func (d *Dense) SymNorm(a *Node) *Node {
	degree := ReduceAndKeep(a, ReduceSum, 1)
	none := LessOrEqual(degree, ZerosLike(degree))
	r := Where(none, ZerosLike(degree), Inverse(Sqrt(Where(none, OnesLike(degree), degree))))
	return Mul(Mul(a, r), Transpose(r, 0, 1))
}

// RowNorm is D^-1 A for a dense adjacency A, where D is the diagonal matrix of the degrees. Rows of nodes without
// neighbours are 0.
func (d *Dense) RowNorm(a *Node) *Node {
	return Div(a, MaxScalar(ReduceAndKeep(a, ReduceSum, 1), 1))
}

// SoftmaxOver is the softmax of each row of the matrix scores. The matrix mask has the same shape. The softmax is taken
// only over the entries at which mask is positive. All other entries of the result are 0.
func (d *Dense) SoftmaxOver(scores, mask *Node) *Node {
	is := GreaterThan(mask, ZerosLike(mask))
	scores = Where(is, scores, MulScalar(OnesLike(scores), -1e30))
	e := Where(is, Exp(Sub(scores, StopGradient(ReduceAndKeep(scores, ReduceMax, 1)))), ZerosLike(scores))
	return Div(e, MaxScalar(ReduceAndKeep(e, ReduceSum, 1), 1e-30))
}

// Tiny is a graph of 12 nodes in 3 classes: a hub (node 5), a triangle, a path, and a node without neighbours. Its
// features are random, and its nodes are not sorted by degree.
func Tiny(t testing.TB) *graphs.Graph {
	t.Helper()
	const n, features = 12, 5
	rng := rand.New(rand.NewPCG(3, 14))
	x := make([]float32, n*features)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	labels := []int32{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}
	known, val := make([]bool, n), make([]bool, n)
	for i := range n {
		known[i], val[i] = i%4 != 3, i%4 == 3
	}
	edges := []graphs.Edge{{5, 0}, {5, 1}, {5, 2}, {5, 3}, {5, 4}, {5, 6}, {6, 7}, {7, 8}, {6, 8}, {8, 9}, {9, 10}}
	splits := []graphs.Split{{Train: known, Val: val, Test: make([]bool, n)}}
	g, err := graphs.New("tiny", n, edges, x, features, labels, 3, splits)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TinyDirected is [Tiny] with directions. Most edges have one direction and some have both. There are also a self loop,
// and nodes with only outgoing or only incoming edges.
func TinyDirected(t testing.TB) *graphs.Graph {
	t.Helper()
	g, err := Tiny(t).WithArcs([]graphs.Arc{{0, 5}, {1, 5}, {5, 1}, {5, 2}, {3, 5}, {5, 4}, {4, 5}, {5, 6}, {6, 7},
		{7, 8}, {8, 6}, {9, 8}, {9, 9}, {10, 9}})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Equals compares a model with a formula on dense matrices, on every engine. It compares the logits, and the gradients
// of the loss with respect to every parameter. The parameters are drawn at random. The graph is [Tiny], and the
// settings are those of [Small] with the given changes.
func Equals(t *testing.T, model string, formula Formula, change ...func(c *train.Config)) {
	t.Helper()
	EqualsOn(t, Tiny(t), model, formula, change...)
}

// EqualsOn is [Equals] on the graph g instead of [Tiny].
func EqualsOn(t *testing.T, g *graphs.Graph, model string, formula Formula, change ...func(c *train.Config)) {
	t.Helper()
	c := Small(model)
	for _, f := range change {
		f(&c)
	}
	weights := Draw(t, g, c)
	logits, gradients := dense(t, g, c, weights, formula)
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		p, err := train.Predict(e, g, 0, c, weights, true)
		if err != nil {
			t.Fatal(err)
		}
		Near(t, "logits", p.Logits, logits)
		for name, a := range p.Gradients {
			Near(t, "the gradient by "+name, a.Values, gradients[name])
		}
	})
}

// Draw draws a model's parameters at random, about as large as their initial values. Some parameters have initial
// values that are not random, such as 0. Draw adds noise to these values: with a parameter of 0, a test may not notice
// whether the model uses the parameter. A parameter with a bound is scaled such that its Frobenius norm is half the
// bound.
func Draw(t testing.TB, g *graphs.Graph, c train.Config) map[string]train.Array {
	t.Helper()
	params, err := models.ParametersOn(c.Config, g)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 9))
	weights := map[string]train.Array{}
	for _, p := range params {
		values := p.Draw(rng)
		for i := range values {
			if !p.Fixed && p.Limit == 0 {
				values[i] += float32(0.3 * rng.NormFloat64())
			}
		}
		if p.Bound != nil { // Two parameters may share a bound: each gets half.
			by := p.Bound.Limit / (2 * layers.Frobenius(values))
			for i := range values {
				values[i] *= float32(by)
			}
		}
		weights[p.Name] = train.Array{Shape: p.Shape, Values: values}
	}
	return weights
}

// dense computes the logits of a formula, and the gradients of the training loss with respect to every parameter. It
// computes in double precision, on the pure-Go engine.
func dense(t *testing.T, g *graphs.Graph, c train.Config, weights map[string]train.Array,
	formula Formula) (logits []float32, gradients map[string][]float32) {
	t.Helper()
	n := g.NumNodes
	a := make([]float32, n*n)
	for _, e := range g.Edges {
		a[int(e[0])*n+int(e[1])], a[int(e[1])*n+int(e[0])] = 1, 1
	}
	out := a
	if g.Directed() {
		out = make([]float32, n*n)
	}
	for _, arc := range g.Arcs {
		out[int(arc[0])*n+int(arc[1])] = 1
	}
	labels := make([]float32, n*g.NumClasses) // rows as in Dense.Known
	for i, l := range g.Labels {
		if g.Splits[0].Train[i] {
			labels[i*g.NumClasses+int(l)] = 1
		}
	}
	names := slices.Sorted(maps.Keys(weights))
	args := []any{tensors.FromFlatDataAndDimensions(a, n, n),
		tensors.FromFlatDataAndDimensions(slices.Clone(g.Features), n, g.NumFeatures),
		tensors.FromFlatDataAndDimensions(labels, n, g.NumClasses),
		tensors.FromFlatDataAndDimensions(out, n, n)}
	first := len(args)
	for _, name := range names {
		w := weights[name]
		args = append(args, tensors.FromFlatDataAndDimensions(slices.Clone(w.Values), w.Shape...))
	}
	exec, err := NewExec(enginetest.Open(t, engine.Go).Backend, func(in []*Node) []*Node {
		for i := range in {
			in[i] = ConvertDType(in[i], dtypes.Float64)
		}
		d := &Dense{Graph: in[0].Graph(), A: in[0], X: in[1], Known: in[2], Out: in[3],
			In: Transpose(in[3], 0, 1), Config: c.Config.Resolved(), Outputs: g.NumClasses, params: map[string]*Node{}}
		if d.Outputs == 2 {
			d.Outputs = 1
		}
		d.I = ConvertDType(Equal(Iota(d.Graph, d.A.Shape(), 0), Iota(d.Graph, d.A.Shape(), 1)), d.A.DType())
		for i, name := range names {
			d.params[name] = in[first+i]
		}
		y, penalty := formula(d)
		loss := lossOf(y, d.Known)
		if penalty != nil {
			loss = Add(loss, penalty)
		}
		results := append([]*Node{y}, Gradient(loss, in[first:]...)...)
		for i := range results {
			results[i] = ConvertDType(results[i], dtypes.Float32)
		}
		return results
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	results, err := exec.Call(args...)
	if err != nil {
		t.Fatal(err)
	}
	gradients = map[string][]float32{}
	for i, name := range names {
		gradients[name] = tensors.MustCopyFlatData[float32](results[1+i])
	}
	return tensors.MustCopyFlatData[float32](results[0]), gradients
}

// lossOf is the mean cross-entropy of the logits over the training nodes. known has the labels of these nodes, in the
// form of the field Known of [Dense].
func lossOf(logits, known *Node) *Node {
	if logits.Shape().Dimensions[1] == 1 { // the logit of class 1; the logit of class 0 is 0
		logits = Concatenate([]*Node{ZerosLike(logits), logits}, 1)
	}
	return Neg(Div(ReduceAllSum(Mul(known, LogSoftmax(logits, 1))), ReduceAllSum(known)))
}

// Near checks that each value in got is close to the expected value at the same position of want. The two values may
// differ by 2e-4 times the largest absolute value in want. A difference of up to 2e-6 is always allowed. what is the
// name of the values in error messages.
func Near(t *testing.T, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d values, want %d", what, len(got), len(want))
		return
	}
	size := 1e-2
	for _, v := range want {
		size = max(size, math.Abs(float64(v)))
	}
	for i, v := range want {
		if !(math.Abs(float64(got[i]-v)) <= 2e-4*size) {
			t.Errorf("%s: value %d is %g, want %g", what, i, got[i], v)
			return
		}
	}
}
