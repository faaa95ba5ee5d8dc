package models

import (
	"fmt"

	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// affine is a linear layer of the head, by PyTorch's name.
type affine struct {
	name    string
	in, out int
}

// head lists the head's linear layers; ReLU comes between them.
func (m *Model) head() []affine {
	n := m.Config.HeadLayers
	list := make([]affine, n)
	for i := range list {
		list[i] = affine{m.backbone.head(i, n), m.Config.Hidden, m.Config.Hidden}
	}
	list[0].in = m.width()
	list[n-1].out = m.Outputs
	return list
}

// sequential is the name of linear layer i in a PyTorch Sequential with an activation between every two.
func sequential(name string, i int) string { return fmt.Sprintf("%s.%d", name, 2*i) }

func (m *Model) readout(scope *model.Scope, x *Node) *Node {
	for i, l := range m.head() {
		if i > 0 {
			x = Max(x, ZerosLike(x))
		}
		x = m.linear(scope, l.name, x)
	}
	return x
}

// value is the node of a parameter.
func (m *Model) value(scope *model.Scope, g *Graph, name string) *Node {
	v := scope.GetVariable(name)
	if v == nil {
		panic(fmt.Errorf("model %s: the store has no parameter %q", m.Config.Model, name))
	}
	return v.NodeValue(g)
}

// linear is x W^T + b.
func (m *Model) linear(scope *model.Scope, name string, x *Node) *Node {
	w := m.value(scope, x.Graph(), name+".weight")
	return m.biased(scope, name, Dot(x, Transpose(w, 0, 1)).Product())
}

// biased is x + b, b the bias of a linear layer.
func (m *Model) biased(scope *model.Scope, name string, x *Node) *Node {
	return Add(x, ExpandLeftToRank(m.value(scope, x.Graph(), name+".bias"), 2))
}

func (m *Model) dropout(scope *model.Scope, x *Node) *Node {
	p := m.Config.Dropout
	if p == 0 || !scope.IsTraining(x.Graph()) {
		return x
	}
	keep := LessThan(scope.RandomUniform(x.Graph(), shapes.Make(x.DType(), x.Shape().Dimensions...)), ConstAs(x, 1-p))
	return Where(keep, DivScalar(x, 1-p), ZerosLike(x))
}

// epsilon and momentum are PyTorch's for LayerNorm and BatchNorm1d.
const epsilon, momentum = 1e-5, 0.1

// norm is layer normalisation (Ba, Kiros and Hinton 2016) or batch normalisation (Ioffe and Szegedy 2015) with PyTorch's
// constants, over the nodes of the graph, with running statistics in evaluation.
func (m *Model) norm(scope *model.Scope, x *Node) *Node {
	g := x.Graph()
	var mean, variance *Node
	switch m.Config.Norm {
	case "none":
		return x
	case "layer":
		mean = ReduceAndKeep(x, ReduceMean, 1)
		variance = ReduceAndKeep(Square(Sub(x, mean)), ReduceMean, 1)
	case "batch":
		runningMean, runningVariance := scope.GetVariable("out_norm.running_mean"), scope.GetVariable("out_norm.running_var")
		if !scope.IsTraining(g) {
			mean, variance = ExpandLeftToRank(runningMean.NodeValue(g), 2), ExpandLeftToRank(runningVariance.NodeValue(g), 2)
			break
		}
		mean = ReduceAndKeep(x, ReduceMean, 0)
		variance = ReduceAndKeep(Square(Sub(x, mean)), ReduceMean, 0)
		n := float64(x.Shape().Dimensions[0])
		follow := func(v *model.Variable, now *Node) {
			v.SetNodeValue(Add(MulScalar(v.NodeValue(g), 1-momentum), MulScalar(StopGradient(Reshape(now, now.Shape().Size())), momentum)))
		}
		follow(runningMean, mean)
		follow(runningVariance, MulScalar(variance, n/max(1, n-1)))
	}
	y := Div(Sub(x, mean), Sqrt(AddScalar(variance, epsilon)))
	return Add(Mul(y, ExpandLeftToRank(m.value(scope, g, "out_norm.weight"), 2)), ExpandLeftToRank(m.value(scope, g, "out_norm.bias"), 2))
}

// Buffers lists the arrays that are part of the model but not trained: batch normalisation's running statistics.
func (m *Model) Buffers() []Param {
	if m.Config.Norm != "batch" {
		return nil
	}
	return []Param{{Name: "out_norm.running_mean", Shape: []int{m.width()}}, {Name: "out_norm.running_var", Shape: []int{m.width()}, Value: 1}}
}
