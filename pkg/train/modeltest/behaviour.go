package modeltest

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
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

// permutes checks that logits stay the same if nodes are renumbered at random, and returns those before.
func permutes(t *testing.T, e *engine.Engine, g *graphs.Graph, c train.Config) []float32 {
	t.Helper()
	p := rand.New(rand.NewPCG(1, 1)).Perm(g.NumNodes) // Node i becomes node p[i].
	weights := Draw(t, g, c)
	given := evaluate(t, e, g, c, weights, false)
	d, err := models.DeclarationOn(c, g)
	fatal(t, err)
	for _, a := range d.Params {
		if !a.Nodes {
			continue
		}
		for i, v := range slices.Clone(weights[a.Name].Values) {
			row, node := i/len(p), i%len(p)
			weights[a.Name].Values[row*len(p)+p[node]] = v
		}
	}
	renumbered := evaluate(t, e, renumber(t, g, p), c, weights, false)
	k := given.Outputs
	back := make([]float32, len(given.Logits))
	for i, to := range p {
		copy(back[i*k:(i+1)*k], renumbered.Logits[to*k:(to+1)*k])
	}
	Near(t, c.Model+": the logits of renumbered nodes", back, given.Logits)
	return given.Logits
}

// renumber gives node i of a graph with one split the number p[i].
func renumber(t *testing.T, g *graphs.Graph, p []int) *graphs.Graph {
	t.Helper()
	n, f := g.NumNodes, g.NumFeatures
	edges, x, labels := make([]graphs.Edge, len(g.Edges)), make([]float32, n*f), make([]int32, n)
	s := graphs.Split{Train: make([]bool, n), Val: make([]bool, n), Test: make([]bool, n)}
	for i, e := range g.Edges {
		edges[i] = graphs.Edge{int32(p[e[0]]), int32(p[e[1]])}
	}
	for i, to := range p {
		copy(x[to*f:(to+1)*f], g.Features[i*f:(i+1)*f])
		labels[to] = g.Labels[i]
		s.Train[to], s.Val[to], s.Test[to] = g.Splits[0].Train[i], g.Splits[0].Val[i], g.Splits[0].Test[i]
	}
	out, err := graphs.New(g.Name, n, edges, x, f, labels, g.NumClasses, []graphs.Split{s})
	if err == nil && g.Directed() {
		arcs := make([]graphs.Arc, len(g.Arcs))
		for i, a := range g.Arcs {
			arcs[i] = graphs.Arc{int32(p[a[0]]), int32(p[a[1]])}
		}
		out, err = out.WithArcs(arcs)
		if edges = nil; err == nil {
			for _, a := range arcs {
				edges = append(edges, graphs.Edge(a))
			}
		}
	}
	if weights := g.EdgeWeights; err == nil && g.Weighted() {
		if g.Directed() {
			weights = g.ArcWeights
		}
		out, err = out.WithWeights(edges, weights)
	}
	fatal(t, err)
	return out
}

// wheel is [Tiny] with more edges, so that no two nodes have the same neighbours.
func wheel(t *testing.T) *graphs.Graph {
	t.Helper()
	g := Tiny(t)
	edges := append(slices.Clone(g.Edges), []graphs.Edge{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {0, 4}}...)
	g, err := graphs.New("wheel", g.NumNodes, edges, g.Features, g.NumFeatures, g.Labels, g.NumClasses, g.Splits)
	fatal(t, err)
	return g
}

// overfits checks that a model learns the labels of a small graph with random features by heart, without dropout: the
// loss must fall to nearly 0 or, if it cannot, all nodes must be classified right.
//
// In [Tiny], nodes 0 and 1 have the same only neighbour. A model that does not see the node itself, so that their
// logits are equal, gets [wheel] instead.
func overfits(t *testing.T, e *engine.Engine, c train.Config, logits []float32) {
	t.Helper()
	g := Tiny(t)
	if k := len(logits) / g.NumNodes; slices.Equal(logits[:k], logits[k:2*k]) {
		g = wheel(t)
	}
	g.Splits[0].Val = g.Splits[0].Train
	c.Hidden, c.Epochs, c.Patience, c.LearningRate, c.WeightDecay = min(c.Hidden, 1)*16, 400, 0, 0.02, 0
	zero(&c, func(s models.Setting) bool { return strings.Contains(s.Name, "drop") })
	r := fit(t, e, g, c)
	last := r.History[len(r.History)-1]
	learnt := last.Loss < 0.1
	if k, _ := models.Lookup(c.Model); k.LossStaysPositive {
		learnt = last.Val == 1 && last.Loss < r.History[0].Loss/2
	}
	if r.Status != train.OK || !learnt {
		t.Errorf("%s: %s, and after %d epochs the loss of %d nodes is %g, from %g, and a share of %g is told right: "+
			"the loss should be near 0",
			c.Model, r.Status, r.Epochs, g.NumNodes, last.Loss, r.History[0].Loss, last.Val)
	}
}

// Dense has a small graph as dense matrices and the parameters of a model, for its formula without sparse products.
type Dense struct {
	Graph *Graph
	// A is the adjacency matrix with the weights of edges or 1, X the features, I the identity. Out has the directed
	// edges at (i, j) for i → j, and
	// In is its transpose; without directions, both are A.
	A, X, I, Out, In *Node
	// Known has the one-hot labels of training nodes; other rows are 0.
	Known   *Node
	Config  models.Config
	Outputs int
	params  map[string]*Node
}

// Formula is what a model computes in training without dropout: logits, [n, d.Outputs], and its penalty or nil.
type Formula func(d *Dense) (logits, penalty *Node)

func (d *Dense) Param(name string) *Node {
	p, ok := d.params[name]
	if !ok {
		panic("no parameter " + name + ": there are " + strings.Join(slices.Sorted(maps.Keys(d.params)), ", "))
	}
	return p
}

// Linear is x W^T + b with the parameters name.weight and name.bias.
func (d *Dense) Linear(name string, x *Node) *Node {
	return Add(Dot(x, Transpose(d.Param(name+".weight"), 0, 1)).Product(), ExpandLeftToRank(d.Param(name+".bias"), 2))
}

// LayerNorm normalises rows and InstanceNorm columns, as PyTorch does, with the parameters name.weight and name.bias.
func (d *Dense) LayerNorm(name string, x *Node) *Node { return d.normalised(name, x, 1) }

func (d *Dense) InstanceNorm(name string, x *Node) *Node { return d.normalised(name, x, 0) }

func (d *Dense) normalised(name string, x *Node, axis int) *Node {
	x = Sub(x, ReduceAndKeep(x, ReduceMean, axis))
	x = Div(x, Sqrt(AddScalar(ReduceAndKeep(Square(x), ReduceMean, axis), 1e-5)))
	return Add(Mul(x, ExpandLeftToRank(d.Param(name+".weight"), 2)), ExpandLeftToRank(d.Param(name+".bias"), 2))
}

// SymNorm is D^-1/2 A D^-1/2 for the row sums D, with 0 for empty rows.
func (d *Dense) SymNorm(a *Node) *Node {
	degree := ReduceAndKeep(a, ReduceSum, 1)
	none := LessOrEqual(degree, ZerosLike(degree))
	r := Where(none, ZerosLike(degree), Inverse(Sqrt(Where(none, OnesLike(degree), degree))))
	return Mul(Mul(a, r), Transpose(r, 0, 1))
}

// RowNorm is D^-1 A for the row sums D, with 0 for empty rows.
func (d *Dense) RowNorm(a *Node) *Node {
	sum := ReduceAndKeep(a, ReduceSum, 1)
	return Div(a, Where(LessOrEqual(sum, ZerosLike(sum)), OnesLike(sum), sum))
}

// SoftmaxOver is the softmax of rows of scores over the entries where mask is positive; others are 0.
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
	fatal(t, err)
	return g
}

// TinyDirected is [Tiny] with directions: edges one and both ways, a self loop, and nodes with only outgoing or
// incoming edges.
func TinyDirected(t testing.TB) *graphs.Graph {
	t.Helper()
	g, err := Tiny(t).WithArcs([]graphs.Arc{{0, 5}, {1, 5}, {5, 1}, {5, 2}, {3, 5}, {5, 4}, {4, 5}, {5, 6}, {6, 7},
		{7, 8}, {8, 6}, {9, 8}, {9, 9}, {10, 9}})
	fatal(t, err)
	return g
}

// Weigh gives the edges of a graph, or its arcs, weights between 0.2 and 3.
func Weigh(t testing.TB, g *graphs.Graph) *graphs.Graph {
	t.Helper()
	ends := slices.Clone(g.Edges)
	if g.Directed() {
		ends = nil
		for _, a := range g.Arcs {
			ends = append(ends, graphs.Edge(a))
		}
	}
	weights, rng := make([]float32, len(ends)), rand.New(rand.NewPCG(2, 7))
	for i := range weights {
		weights[i] = 0.2 + 2.8*rng.Float32()
	}
	g, err := g.WithWeights(ends, weights)
	fatal(t, err)
	return g
}

// Equals compares the logits of a model, and all gradients of the loss, with those of a formula, on [Tiny] and on every
// engine, with parameters drawn at random, and the settings of [Small] with changes. A model that reads the weights of
// edges is compared once more with weights.
func Equals(t *testing.T, model string, formula Formula, change ...func(c *train.Config)) {
	t.Helper()
	EqualsOn(t, Tiny(t), model, formula, change...)
}

// EqualsOn is [Equals] on another graph.
func EqualsOn(t *testing.T, g *graphs.Graph, model string, formula Formula, change ...func(c *train.Config)) {
	t.Helper()
	c := Small(model)
	for _, f := range change {
		f(&c)
	}
	if k, _ := models.Lookup(c.Model); k.Weighted && !g.Weighted() && c.DropEdge == 0 && c.HalfHop == 0 {
		t.Run("weighted", func(t *testing.T) { EqualsOn(t, Weigh(t, g), model, formula, change...) })
	}
	weights := Draw(t, g, c)
	logits, gradients := dense(t, g, c, weights, formula)
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		p := evaluate(t, e, g, c, weights, true)
		Near(t, "logits", p.Logits, logits)
		for name, a := range p.Gradients {
			Near(t, "the gradient by "+name, a.Values, gradients[name])
		}
	})
}

// Draw draws parameters about as large as their initial values, with noise on those that start at numbers such as 0,
// which would hide whether they are used. Parameters with a bound get half of it.
func Draw(t testing.TB, g *graphs.Graph, c train.Config) map[string]train.Array {
	t.Helper()
	d, err := models.DeclarationOn(c, g)
	fatal(t, err)
	rng := rand.New(rand.NewPCG(5, 9))
	weights := map[string]train.Array{}
	for _, p := range d.Params {
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

// dense computes a formula and its gradients in double precision, on the pure-Go engine.
func dense(t *testing.T, g *graphs.Graph, c train.Config, weights map[string]train.Array,
	formula Formula) (logits []float32, gradients map[string][]float32) {
	t.Helper()
	n := g.NumNodes
	a := make([]float32, n*n)
	weight := func(weights []float32, i int) float32 {
		if !g.Weighted() {
			return 1
		}
		return weights[i]
	}
	for i, e := range g.Edges {
		w := weight(g.EdgeWeights, i)
		a[int(e[0])*n+int(e[1])], a[int(e[1])*n+int(e[0])] = w, w
	}
	out := a
	if g.Directed() {
		out = make([]float32, n*n)
	}
	for i, arc := range g.Arcs {
		out[int(arc[0])*n+int(arc[1])] = weight(g.ArcWeights, i)
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
			In: Transpose(in[3], 0, 1), Config: c.Resolved(), Outputs: g.NumClasses, params: map[string]*Node{}}
		if d.Outputs == 2 {
			d.Outputs = 1
		}
		d.I = ConvertDType(Equal(Iota(d.Graph, d.A.Shape(), 0), Iota(d.Graph, d.A.Shape(), 1)), d.A.DType())
		for i, name := range names {
			d.params[name] = in[first+i]
		}
		y, penalty := formula(d)
		logits := y
		if d.Outputs == 1 { // the logit of class 1; the logit of class 0 is 0
			logits = Concatenate([]*Node{ZerosLike(y), y}, 1)
		}
		// the mean cross-entropy over the training nodes
		loss := Neg(Div(ReduceAllSum(Mul(d.Known, LogSoftmax(logits, 1))), ReduceAllSum(d.Known)))
		if penalty != nil {
			loss = Add(loss, penalty)
		}
		results := append([]*Node{y}, Gradient(loss, in[first:]...)...)
		for i := range results {
			results[i] = ConvertDType(results[i], dtypes.Float32)
		}
		return results
	})
	fatal(t, err)
	defer exec.Finalize()
	results, err := exec.Call(args...)
	fatal(t, err)
	gradients = map[string][]float32{}
	for i, name := range names {
		gradients[name] = tensors.MustCopyFlatData[float32](results[1+i])
	}
	return tensors.MustCopyFlatData[float32](results[0]), gradients
}

// Near checks that values differ by 2e-4 of the largest in want at most, or by 2e-6.
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
