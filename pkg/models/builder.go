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

	"github.com/revgnn/revgnn/pkg/machine"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// Builder is the argument of [Network.Build]: a network uses it to add itself to a computation graph. The layers that
// Builder has as methods, such as [Builder.Linear], have the formulas, parameter names, shapes and initial values of
// PyTorch's layers. A network may also use GoMLX's own layers, with the field Scope.
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
	// [Model.Declare] builds the network once, to create its parameters. It sets start, which makes the initial value
	// of a parameter. It reads params, which lists the parameters that were created. In all other builds of the
	// network, start and params are nil.
	start  func(Param) (*tensors.Tensor, error)
	params []Param
	// layer is the layer that [Builder.Layers] is building. It is nil outside of Builder.Layers.
	layer *layerOf
}

// declare builds the network, and returns the number of its solves, Output.Solves. If the computation graph cannot be
// built, GoMLX panics. In this case, declare returns an error.
func (b *Builder) declare() (solves int, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case startError:
			err = p.error
		case error:
			err = fmt.Errorf("the computation graph cannot be built: %w", p)
		default:
			panic(p)
		}
	}()
	return b.Network.Build(b).Solves, nil
}

// startError is an error in creating a parameter. By the type, [Builder.declare] distinguishes it from an error in
// building the computation graph.
type startError struct{ error }

// Param returns the value of a parameter, which it finds in the store. If the store does not have the parameter, Param
// creates it while [Model.Declare] builds the network. In all other builds of the network, Param panics.
func (b *Builder) Param(p Param) *Node {
	if b.layer != nil {
		return b.layer.param(b.Graph, p)
	}
	v := b.Scope.GetVariable(p.Name)
	if v == nil {
		if b.start == nil {
			panic(fmt.Errorf("model %s: the store has no parameter %q", b.Config.Model, p.Name))
		}
		value, err := b.starting(p)
		if err == nil {
			v, err = b.Scope.CreateVariable(p.Name, value)
		}
		if err != nil {
			panic(startError{err})
		}
		v.SetTrainable(!p.Fixed)
		b.params = append(b.params, p)
	}
	return v.NodeValue(b.Graph)
}

// starting returns the parameter's initial value. It returns an error if the free memory is too small. Two copies of
// the value have to fit: a slice of random numbers, and the tensor made of the slice.
func (b *Builder) starting(p Param) (*tensors.Tensor, error) {
	if err := machine.Room(2 * 4 * int64(p.size())); err != nil {
		return nil, fmt.Errorf("parameter %q of %s, of the shape %v, %w; or lower --hidden", p.Name, b.Config.Model,
			p.Shape, err)
	}
	return b.start(p)
}

// Linear returns x W^T + b, [n, out], for x, [n, in]. W and b start with uniform random numbers in ±1/sqrt(in), as in
// PyTorch.
func (b *Builder) Linear(name string, x *Node, out int) *Node {
	w, bias := b.linear(name, x.Shape().Dimensions[1], out)
	return affine(x, w, bias)
}

// Encode is [Builder.Linear] of the graph's node features X: X W^T + b, [n, out]. If most entries of X are zero, X is
// multiplied as a sparse matrix.
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

// Encoded returns X W^T for the graph's node features X and a weight W, [out, Features]. A network calls Encoded if it
// declares W itself. [Builder.Encode] declares W.
func (b *Builder) Encoded(w *Node) *Node { return b.Model.features.times(w, b.features) }

// linear declares the weight and the bias of a linear layer. matrix declares the weight alone.
func (b *Builder) linear(name string, in, out int) (w, bias *Node) {
	w = b.matrix(name, in, out)
	return w, b.Param(Param{Name: name + ".bias", Shape: []int{out}, Limit: 1 / math.Sqrt(float64(in))})
}

func (b *Builder) matrix(name string, in, out int) *Node {
	return b.Param(Param{Name: name + ".weight", Shape: []int{out, in}, Limit: 1 / math.Sqrt(float64(in))})
}

// glorot declares a parameter that starts with uniform random numbers in ±sqrt(6/(in+out)) (Glorot and Bengio 2010). in
// is the number of inputs of the linear map, and out is the number of its outputs.
func (b *Builder) glorot(name string, in, out int, shape ...int) *Node {
	return b.Param(Param{Name: name, Shape: shape, Limit: math.Sqrt(6 / float64(in+out))})
}

// times returns x W^T, and affine returns x W^T + b.
func times(x, w *Node) *Node        { return Dot(x, Transpose(w, 0, 1)).Product() }
func affine(x, w, bias *Node) *Node { return Add(times(x, w), ExpandLeftToRank(bias, 2)) }

// Teach gives the builder the labels. labels, [n, 1], holds the number of each node's class. mask, [n, 1], is 1 for
// training nodes, whose labels the model may read, and 0 for all other nodes.
func (b *Builder) Teach(labels, mask *Node) { b.labels, b.mask = labels, mask }

// Known returns the labels of the training nodes as one-hot rows, [n, Classes]. The rows of all other nodes are zero,
// so that no model sees a label on which it is evaluated. All rows are zero if [Builder.Teach] was not called.
func (b *Builder) Known() *Node {
	if b.mask == nil {
		return Zeros(b.Graph, shapes.Make(dtypes.Float32, len(b.Order), b.Classes))
	}
	classes := Iota(b.Graph, shapes.Make(b.labels.DType(), b.labels.Shape().Dimensions[0], b.Classes), 1)
	chosen := Equal(classes, BroadcastToShape(b.labels, classes.Shape()))
	return Where(chosen, BroadcastToShape(b.mask, classes.Shape()), ZerosLike(classes))
}

// epsilon is added to the variance in LayerNorm, BatchNorm and InstanceNorm. momentum is the weight of a training
// step's statistics in the running means and variances of BatchNorm. Both have PyTorch's default values.
const epsilon, momentum = 1e-5, 0.1

// Norm applies the normalisation that the setting "norm" names: LayerNorm, BatchNorm, InstanceNorm or none.
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

// LayerNorm normalises each row to mean 0 and variance 1 (Ba, Kiros and Hinton 2016), and scales and shifts the columns
// by trainable parameters.
func (b *Builder) LayerNorm(name string, x *Node) *Node {
	mean, variance := moments(x, 1)
	return b.scaled(name, x, mean, variance)
}

// BatchNorm normalises each column over the nodes of the graph (Ioffe and Szegedy 2015), and scales and shifts the
// columns by trainable parameters. In evaluation, it normalises by running means and variances, which training has
// gathered.
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

// InstanceNorm normalises each column over the nodes of the graph, as [Builder.BatchNorm] does, but it always takes the
// mean and the variance of x itself, in evaluation, too (Ulyanov, Vedaldi and Lempitsky 2016; the graph is the
// instance). So there are no running statistics, which lag behind when features change much from one step to the next.
func (b *Builder) InstanceNorm(name string, x *Node) *Node {
	mean, variance := moments(x, 0)
	return b.scaled(name, x, mean, variance)
}

// moments returns the mean and the population variance of x over an axis, which is kept with length 1: those of each
// column for axis 0, and those of each row for axis 1.
func moments(x *Node, axis int) (mean, variance *Node) {
	mean = ReduceAndKeep(x, ReduceMean, axis)
	return mean, ReduceAndKeep(Square(Sub(x, mean)), ReduceMean, axis)
}

// scaled returns (x - mean)/sqrt(variance + epsilon) γ + β. It declares the parameters γ, with the name name+".weight",
// and β, with the name name+".bias".
func (b *Builder) scaled(name string, x, mean, variance *Node) *Node {
	width := []int{x.Shape().Dimensions[1]}
	scale := b.Param(Param{Name: name + ".weight", Shape: width, Value: 1})
	shift := b.Param(Param{Name: name + ".bias", Shape: width})
	y := Div(Sub(x, mean), Sqrt(AddScalar(variance, epsilon)))
	return Add(Mul(y, ExpandLeftToRank(scale, 2)), ExpandLeftToRank(shift, 2))
}
