package models

import (
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/machine"
	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// Builder is what [Network.Build] adds a network to a computation graph with. Its layers have the formulas, parameter
// names, shapes and initial values of PyTorch's. GoMLX's own layers work as well, with the field Scope.
type Builder struct {
	*Model
	Scope *model.Scope
	Graph *Graph
	// arrays stand for [Model.Arrays].
	arrays   []*Node
	features []*Node // those of the node features, after dropout
	// labels, [n, 1], holds the number of each node's class. mask, [n, 1], is 1 for training nodes, else 0. Both are
	// nil if [Builder.Teach] was not called.
	labels, mask *Node
	// start makes initial values, and params are the parameters that were created, in [Model.Declare] alone.
	start  func(Param) (*tensors.Tensor, error)
	params []Param
	// layer is the layer that [Builder.Layers] is building. It is nil outside of Builder.Layers.
	layer *layerOf
}

// Param is the value of a parameter in the store. [Model.Declare] creates those that are missing; elsewhere they panic.
func (b *Builder) Param(p Param) *Node {
	if b.layer != nil {
		return b.layer.param(b.Graph, p)
	}
	v := b.Scope.GetVariable(p.Name)
	if v == nil {
		if b.start == nil {
			panic(fmt.Errorf("model %s: the store has no parameter %q", b.Config.Model, p.Name))
		}
		if err := machine.Room(2 * 4 * int64(p.size())); err != nil { // random numbers and their tensor
			panic(failure{fmt.Errorf("parameter %q of %s, of the shape %v, %w; or lower --hidden", p.Name, b.Config.Model,
				p.Shape, err)})
		}
		v = must(b.Scope.CreateVariable(p.Name, must(b.start(p))))
		v.SetTrainable(!p.Fixed)
		b.params = append(b.params, p)
	}
	return v.NodeValue(b.Graph)
}

// Linear is x W^T + b, [n, out]. W and b start uniform in ±1/sqrt(in), as in PyTorch.
func (b *Builder) Linear(name string, x *Node, out int) *Node {
	w, bias := b.linear(name, x.Shape().Dimensions[1], out)
	return affine(x, w, bias)
}

// Encode is [Builder.Linear] of the node features, as a sparse product if most are zero.
func (b *Builder) Encode(name string, out int) *Node {
	w, bias := b.linear(name, b.Features, out)
	return Add(b.Encoded(w), ExpandLeftToRank(bias, 2))
}

// Array is the node that stands for an array that [Network.Prepare] returned.
func (b *Builder) Array(t *tensors.Tensor) *Node {
	i := slices.Index(b.Model.Arrays, t)
	if i < 0 {
		panic(fmt.Errorf("model %s: an array that Prepare did not return is used", b.Config.Model))
	}
	return b.arrays[i]
}

// Matrix and Edges are a matrix and a pattern whose arrays [Network.Prepare] returned, inside the computation graph.
func (b *Builder) Matrix(m *sparse.Matrix) sparse.Operator { return m.On(b.all(m.Tensors())) }
func (b *Builder) Edges(p *sparse.Pattern) sparse.Edges    { return p.On(b.all(p.Tensors())) }

func (b *Builder) all(list []*tensors.Tensor) []*Node {
	nodes := make([]*Node, len(list))
	for i, t := range list {
		nodes[i] = b.Array(t)
	}
	return nodes
}

// Encoded is X W^T for the node features X and a weight [out, Features] that the network declares itself.
func (b *Builder) Encoded(w *Node) *Node { return b.Model.features.times(w, b.features) }

func (b *Builder) linear(name string, in, out int) (w, bias *Node) {
	w = b.matrix(name, in, out)
	return w, b.Param(Param{Name: name + ".bias", Shape: []int{out}, Limit: 1 / math.Sqrt(float64(in))})
}

func (b *Builder) matrix(name string, in, out int) *Node {
	return b.Param(Param{Name: name + ".weight", Shape: []int{out, in}, Limit: 1 / math.Sqrt(float64(in))})
}

// glorot declares a parameter that starts uniform in ±sqrt(6/(in+out)) (Glorot and Bengio 2010).
func (b *Builder) glorot(name string, in, out int, shape ...int) *Node {
	return b.Param(Param{Name: name, Shape: shape, Limit: math.Sqrt(6 / float64(in+out))})
}

func relu(x *Node) *Node { return Max(x, ZerosLike(x)) }

// times returns x W^T, and affine returns x W^T + b.
func times(x, w *Node) *Node        { return Dot(x, Transpose(w, 0, 1)).Product() }
func affine(x, w, bias *Node) *Node { return Add(times(x, w), ExpandLeftToRank(bias, 2)) }

// Teach gives the builder the class of each node, and the mask of those whose class the model may read; [n, 1] each.
func (b *Builder) Teach(labels, mask *Node) { b.labels, b.mask = labels, mask }

// Known has the labels of the training nodes as one-hot rows, [n, Classes]. All other rows are zero, so that no model
// sees a label on which it is evaluated.
func (b *Builder) Known() *Node {
	if b.mask == nil {
		return Zeros(b.Graph, shapes.Make(dtypes.Float32, len(b.Order), b.Classes))
	}
	classes := Iota(b.Graph, shapes.Make(b.labels.DType(), b.labels.Shape().Dimensions[0], b.Classes), 1)
	chosen := Equal(classes, BroadcastToShape(b.labels, classes.Shape()))
	return Where(chosen, BroadcastToShape(b.mask, classes.Shape()), ZerosLike(classes))
}

// epsilon and momentum are PyTorch's: added to variances, and the weight of a step in BatchNorm's running statistics.
const epsilon, momentum = 1e-5, 0.1

// Norm is the normalisation that the setting "norm" names.
func (b *Builder) Norm(name string, x *Node) *Node {
	switch b.Config.Norm {
	case "layer":
		return b.LayerNorm(name, x)
	case "batch":
		return b.BatchNorm(name, x)
	case "instance":
		return b.InstanceNorm(name, x)
	}
	return x
}

// LayerNorm normalises rows (Ba, Kiros and Hinton 2016).
func (b *Builder) LayerNorm(name string, x *Node) *Node {
	mean, variance := moments(x, 1)
	return b.scaled(name, x, mean, variance)
}

// BatchNorm normalises columns over the nodes (Ioffe and Szegedy 2015), in evaluation by running statistics.
func (b *Builder) BatchNorm(name string, x *Node) *Node {
	width := []int{x.Shape().Dimensions[1]}
	b.Param(Param{Name: name + ".running_mean", Shape: width, Fixed: true})
	b.Param(Param{Name: name + ".running_var", Shape: width, Value: 1, Fixed: true})
	runningMean, runningVariance := b.Scope.GetVariable(name+".running_mean"), b.Scope.GetVariable(name+".running_var")
	if !b.Scope.IsTraining(b.Graph) {
		return b.scaled(name, x, ExpandLeftToRank(runningMean.NodeValue(b.Graph), 2),
			ExpandLeftToRank(runningVariance.NodeValue(b.Graph), 2))
	}
	mean, variance := moments(x, 0)
	n := float64(x.Shape().Dimensions[0])
	follow := func(v *model.Variable, now *Node) {
		now = MulScalar(StopGradient(Reshape(now, width...)), momentum)
		v.SetNodeValue(Add(MulScalar(v.NodeValue(b.Graph), 1-momentum), now))
	}
	follow(runningMean, mean)
	follow(runningVariance, MulScalar(variance, n/max(1, n-1)))
	return b.scaled(name, x, mean, variance)
}

// InstanceNorm normalises columns by their own statistics in evaluation, too (Ulyanov, Vedaldi and Lempitsky 2016; the
// graph is the instance). So nothing lags behind when features change much from step to step.
func (b *Builder) InstanceNorm(name string, x *Node) *Node {
	mean, variance := moments(x, 0)
	return b.scaled(name, x, mean, variance)
}

// moments are the mean and the population variance over an axis, which stays with length 1.
func moments(x *Node, axis int) (mean, variance *Node) {
	mean = ReduceAndKeep(x, ReduceMean, axis)
	return mean, ReduceAndKeep(Square(Sub(x, mean)), ReduceMean, axis)
}

// scaled is (x - mean)/sqrt(variance + epsilon) γ + β with the parameters name.weight and name.bias.
func (b *Builder) scaled(name string, x, mean, variance *Node) *Node {
	width := []int{x.Shape().Dimensions[1]}
	scale := b.Param(Param{Name: name + ".weight", Shape: width, Value: 1})
	shift := b.Param(Param{Name: name + ".bias", Shape: width})
	y := Div(Sub(x, mean), Sqrt(AddScalar(variance, epsilon)))
	return Add(Mul(y, ExpandLeftToRank(scale, 2)), ExpandLeftToRank(shift, 2))
}

// EncodeRows is S W^T + b, [n, out], a linear layer that reads row i of S, [n, n], such as the adjacency, in place of
// the features of node i. The columns of S and of W, [out, n], are in the dataset's order: see [Arrays.Rectangular].
func (b *Builder) EncodeRows(name string, s sparse.Operator, out int) *Node {
	n := len(b.Order)
	limit := 1 / math.Sqrt(float64(n))
	w := b.Param(Param{Name: name + ".weight", Shape: []int{out, n}, Limit: limit, Nodes: true})
	bias := b.Param(Param{Name: name + ".bias", Shape: []int{out}, Limit: limit})
	return Add(s.Product(Transpose(w, 0, 1)), ExpandLeftToRank(bias, 2))
}

// unit scales rows to length 1, as torch.nn.functional.normalize does. Rows of zeros stay.
func unit(x *Node) *Node {
	return Div(x, Sqrt(MaxScalar(ReduceAndKeep(Square(x), ReduceSum, 1), 1e-24)))
}

// FromScores are logits, [n, Outputs], of scores for the classes, [n, Classes]. For two classes, this is the second
// score minus the first, whose logistic function is the softmax probability of the second class.
func (b *Builder) FromScores(scores *Node) *Node {
	if b.Outputs == b.Classes {
		return scores
	}
	return Sub(Slice(scores, AxisRange(), AxisRange(1, 2)), Slice(scores, AxisRange(), AxisRange(0, 1)))
}

// ridgeInverse is (S + diag(r))^-1 for a symmetric, positive semidefinite S, [k, k], and r > 0, [1, k] or a scalar.
func ridgeInverse(s, r *Node) *Node {
	eye := ConvertDType(Equal(Iota(s.Graph(), s.Shape(), 0), Iota(s.Graph(), s.Shape(), 1)), s.DType())
	return solve.MatrixInverse(Add(s, Mul(eye, r)))
}

// Dropout is that of PyTorch, in training only, with the probability that the setting "dropout" gives.
func (b *Builder) Dropout(x *Node) *Node { return b.DropoutOf(x, b.Config.Dropout) }

func (b *Builder) DropoutOf(x *Node, p float64) *Node {
	if p == 0 || !b.Random() {
		return x
	}
	dims := x.Shape().Dimensions
	entry := Reshape(Iota(b.Graph, shapes.Make(dtypes.Uint32, x.Shape().Size()), 0), dims...)
	return Where(kept(entry, b.seed(), p), DivScalar(x, 1-p), ZerosLike(x))
}

// Random tells whether this computation draws random numbers: in training, unless [Model.Deterministic] is set.
func (b *Builder) Random() bool {
	if b.layer != nil {
		return b.layer.random
	}
	return !b.Deterministic && b.Scope.IsTraining(b.Graph)
}

// seed draws a seed for one call of [kept]: two whole numbers of 24 bits.
func (b *Builder) seed() *Node {
	if b.layer != nil {
		return b.layer.seed(b.Graph)
	}
	return b.seeds()
}

// seeds draws seeds, [dims…, 2].
func (b *Builder) seeds(dims ...int) *Node {
	u := b.Scope.RandomUniform(b.Graph, shapes.Make(dtypes.Float32, append(dims, 2)...))
	return ConvertDType(MulScalar(u, 1<<24), dtypes.Uint32)
}

// kept tells, for each entry, whether it stays in dropout: with probability 1 - p. number, of type uint32, numbers the
// entries. kept works in loop bodies.
//
// The entry stays if a hash of its number and the seed is below (1-p) 2^32. Hashes take little time and no memory,
// since XLA computes them where they are used; a random number generator takes 15 ns per entry, and its numbers stay in
// memory until the backward pass. Two rounds combine h with a number of the seed by exclusive or, and mix its bits by
// the last part of MurmurHash3 (Appleby 2011) with other constants (Wellons 2018).
func kept(number, seed *Node, p float64) *Node {
	constant := func(v uint32) *Node { return loop.Like(loop.Const(number.Graph(), v), number) }
	fold := func(h *Node, by uint32) *Node { return BitwiseXor(h, BitwiseShiftRightLogical(h, constant(by))) }
	h := number
	for half := range 2 {
		h = BitwiseXor(h, loop.Like(Reshape(Slice(seed, AxisElem(half))), number))
		h = Mul(fold(h, 16), constant(0x7feb352d))
		h = Mul(fold(h, 15), constant(0x846ca68b))
		h = fold(h, 16)
	}
	return LessThan(h, constant(uint32(min((1-p)*(1<<32), math.MaxUint32))))
}

// Layers applies count layers to x, one after the other, and compiles one: layer(b, l, x) computes layer l for the
// input x. Its result has the shape of x. Layers differ only in the names and values of their parameters and in random
// draws, so that layer may use l only where it declares parameters.
//
// layer must use the builder that is its argument. It may use x and what this builder offers: parameters, linear
// layers, layer normalisation, dropout, and arrays. It must not use other nodes, nor gather statistics, as batch
// normalisation does.
func (b *Builder) Layers(count int, x *Node, layer func(b *Builder, l int, x *Node) *Node) *Node {
	if count == 1 {
		return layer(b, 0, x)
	}
	var stacks [][]*Node // for each parameter, its values in all layers
	draws := 0
	for l := range count {
		d := b.declaration(l, x, layer)
		if l == 0 {
			stacks, draws = make([][]*Node, len(d.params)), d.draws
		}
		alike := len(d.params) == len(stacks) && d.draws == draws
		for i, p := range d.params {
			if alike = alike && (l == 0 || slices.Equal(stacks[i][0].Shape().Dimensions[1:], p.Shape)); alike {
				stacks[i] = append(stacks[i], InsertAxes(b.Param(p), 0))
			}
		}
		if !alike {
			panic(fmt.Errorf("model %s: layer %d has parameters of other shapes than layer 0, or draws more or less: "+
				"Builder.Layers needs layers that are alike", b.Config.Model, l))
		}
	}
	own := layerOwn{}
	for _, values := range stacks {
		own.Values = append(own.Values, Concatenate(values, 0))
	}
	if draws > 0 {
		own.Seeds = b.seeds(count, draws)
	}
	return solve.Scan(func(_, x *Node, own layerOwn, shared layerShared) *Node {
		in := &layerOf{random: draws > 0, values: own.Values, seeds: own.Seeds}
		return layer(b.within(in, x, shared.Arrays.nodes), 0, x)
	}, x, own, layerShared{constants{b.arrays}}, count)
}

// layerOwn are stacks of what layers have of their own: parameters, and seeds of random draws.
type layerOwn struct {
	Values []*Node
	Seeds  *Node
}

type layerShared struct{ Arrays constants }

// constants are nodes without gradients.
type constants struct{ nodes []*Node }

func (constants) Fixed() {}

// layerOf is the state of a builder of a single layer for [Builder.Layers], in a computation graph of its own.
type layerOf struct {
	random bool
	// values are the layer's parameters, in the order in which it declares them, and seeds, [draws, 2], are those of
	// its random draws. Both are nil while [Builder.declaration] lists params and counts draws.
	values []*Node
	params []Param
	seeds  *Node
	asked  int
	draws  int
}

// within is a builder for one layer, in the computation graph of x.
func (b *Builder) within(in *layerOf, x *Node, arrays []*Node) *Builder {
	return &Builder{Model: b.Model, Graph: x.Graph(), arrays: arrays, layer: in}
}

// declaration lists the parameters and counts the draws of layer l, in a graph that is thrown away.
func (b *Builder) declaration(l int, x *Node, layer func(b *Builder, l int, x *Node) *Node) *layerOf {
	g := NewGraph(b.Graph.Backend(), "a layer of "+b.Config.Model)
	defer g.Finalize()
	arrays := make([]*Node, len(b.arrays))
	for i, a := range b.arrays {
		arrays[i] = Parameter(g, fmt.Sprintf("array%d", i), a.Shape())
	}
	x = Parameter(g, "x", x.Shape())
	in := &layerOf{random: b.Random()}
	layer(b.within(in, x, arrays), l, x)
	return in
}

// param is the next value, in the order in which the layer asks; while parameters are listed, a placeholder.
func (in *layerOf) param(g *Graph, p Param) *Node {
	if p.Fixed {
		panic(fmt.Errorf("parameter %s is not trained, but gathered: Builder.Layers cannot do that, "+
			"loop over the layers instead", p.Name))
	}
	if in.values == nil {
		in.params = append(in.params, p)
		return Parameter(g, p.Name, shapes.Make(dtypes.Float32, p.Shape...))
	}
	in.asked++
	return in.values[in.asked-1]
}

// seed is the seed of the next draw, or a placeholder while draws are counted.
func (in *layerOf) seed(g *Graph) *Node {
	in.draws++
	if in.seeds == nil {
		return Zeros(g, shapes.Make(dtypes.Uint32, 2))
	}
	return Reshape(Slice(in.seeds, AxisElem(in.draws-1)), 2)
}
