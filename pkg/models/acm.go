package models

import (
	"fmt"
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	Register(Kind{Name: "acm-gcn", Title: "ACM-GCN",
		Layer: "a_L ReLU(P X W_L) + a_H ReLU((I-P) X W_H) + a_I ReLU(X W_I), P the mean with self loops, " +
			"a softmax per node",
		Reference: "Luan et al., NeurIPS 2022",
		Shared:    []string{"forward", "hidden", "dropout"},
		Defaults:  func(c *Config) { c.Forward, c.Hidden, c.Dropout = 2, 64, 0.5 },
		Check: func(c Config) error {
			if c.Forward < 1 {
				return fmt.Errorf("forward is %d: acm-gcn needs 1 layer at least, since the last one gives the logits",
					c.Forward)
			}
			return nil
		},
		New: func(Config) Network { return &acm{} }})
}

// acm is ACM-GCN (Luan et al., "Revisiting heterophily for graph neural networks", NeurIPS 2022, section 4.2, option
// 1). Its parameters have the names of the authors' code, https://github.com/SitaoLuan/ACM-GNN. A layer computes three
// channels L, H and I from its input X. The layer's result X' is the sum of the channels, with weights a_L, a_H and a_I
// that differ from node to node:
//
//	L = ReLU(P X W_L), H = ReLU((I - P) X W_H), I = ReLU(X W_I)                   X [n, d]; L, H and I [n, d']
//	[a_L, a_H, a_I] = softmax([σ(L v_L), σ(H v_H), σ(I v_I)] M / T)               [n, 3], temperature T = 3
//	X' = a_L L + a_H H + a_I I                                                    each row times the node's weight
//
// P = (D+I)^-1 (A+I), [n, n], is the low-pass filter: the mean over a node and its neighbours. I - P is the high-pass
// filter, in which I stands for the identity matrix. σ is the logistic function. The weights W_L, W_H and W_I are [d,
// d'], and the vectors v_L, v_H and v_I are [d', 1]. M, [3, 3], mixes the scores of the three channels.
//
// The first layer reads the node features. In the last layer, d' is the number of classes, and X' are the logits.
// Dropout acts between layers. The publication also applies ReLU to X'. This would change nothing, since no channel is
// negative. For the same reason X' is never negative. A single logit that is never negative could not choose the first
// of two classes. Therefore the last layer has two columns for two classes, and the model's one logit is their
// difference.
//
// The published settings are two layers, d = 64, and a dropout probability that is searched between 0 and 0.9. Where
// the authors' code differs from the publication, this network follows the publication. (The code multiplies X' by 3,
// and also drops entries of the node features.) Three variants are not implemented. Option 2 (ACMII) filters after
// ReLU. ACM-GCN+ normalises the rows of the channels before the products with v_L, v_H and v_I. It may also have a
// fourth channel, made of the rows of the adjacency matrix. ACM-GCN++ adds a linear map of the features to X'.
//
// Dense node features (see [Sparse]) are filtered once, by Prepare. This stores two more arrays of their size.
type acm struct {
	mean     *sparse.Matrix
	filtered bool
}

// Prepare makes the sparse matrix P, the mean over a node and its neighbours. If the node features F are dense, Prepare
// also computes P F and (I - P) F.
func (a *acm) Prepare(g *graphs.Graph) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	mean := sparse.Adjacency(g).WithSelfLoops().RowNormalised()
	if a.mean, err = sparse.NewMatrix(mean, nil); err != nil {
		return nil, nil, err
	}
	order, arrays = a.mean.Order(), a.mean.Tensors()
	if _, yes := Sparse(g); yes {
		return order, arrays, nil
	}
	a.filtered = true
	low := mean.Product(g.Features, g.NumFeatures)
	high := slices.Clone(g.Features)
	for i, v := range low {
		high[i] -= v
	}
	for _, x := range [][]float32{low, high} {
		x = sparse.Permute(order, x, g.NumFeatures)
		arrays = append(arrays, tensors.FromFlatDataAndDimensions(x, g.NumNodes, g.NumFeatures))
	}
	return order, arrays, nil
}

// acmChannels are the names of the channels L, H and I in the names of parameters, such as weight_low for W_L.
var acmChannels = []string{"low", "high", "mlp"}

// Build implements [Network]. The representation is the input of the last layer or, if there is only one layer, its
// result X'.
func (a *acm) Build(b *Builder) Output {
	split := len(a.mean.Tensors())
	mean, filtered := a.mean.On(b.Arrays[:split]), b.Arrays[split:]
	x, read, width := (*Node)(nil), (*Node)(nil), b.Config.Hidden
	for l := range b.Config.Forward {
		if l == b.Config.Forward-1 {
			width = b.Classes
		}
		layer := acmLayer{b, fmt.Sprintf("gcns.%d.", l), width}
		var mapped []*Node
		switch {
		case l > 0:
			w := layer.weights(x.Shape().Dimensions[1])
			mapped = layer.filter(mean, Dot(b.Dropout(x), Concatenate(w, 1)).Product())
		case a.filtered:
			w := layer.weights(b.Features)
			mapped = []*Node{Dot(filtered[0], w[0]).Product(), Dot(filtered[1], w[1]).Product(),
				b.Encoded(Transpose(w[2], 0, 1))}
		default:
			w := layer.weights(b.Features)
			mapped = layer.filter(mean, b.Encoded(Transpose(Concatenate(w, 1), 0, 1)))
		}
		x, read = layer.mix(mapped), x
	}
	if read == nil {
		read = x
	}
	return Output{Logits: b.FromScores(x), Representation: read}
}

// acmLayer is one layer of [acm]. name is the beginning of the names of the layer's parameters, such as "gcns.0.".
// width is d', the number of columns of the layer's result.
type acmLayer struct {
	b     *Builder
	name  string
	width int
}

// weights returns the weights W_L, W_H and W_I of [acm] for an input with the given number of columns.
func (a acmLayer) weights(in int) (w []*Node) {
	for _, c := range acmChannels {
		w = append(w, a.b.Param(Param{Name: a.name + "weight_" + c, Shape: []int{in, a.width},
			Limit: 1 / math.Sqrt(float64(a.width))}))
	}
	return w
}

// filter returns the layer's three channels before ReLU: P X W_L, (I - P) X W_H and X W_I. The argument y is X [W_L,
// W_H, W_I]. X is multiplied by the weights first, so that both products with P can be computed as one.
func (a acmLayer) filter(mean sparse.Operator, y *Node) []*Node {
	columns := func(x *Node, from, to int) *Node { return Slice(x, AxisRange(), AxisRange(from*a.width, to*a.width)) }
	averaged := mean.Product(columns(y, 0, 2))
	return []*Node{columns(averaged, 0, 1), Sub(columns(y, 1, 2), columns(averaged, 1, 2)), columns(y, 2, 3)}
}

// mix returns the layer's result, X' of [acm]. mapped holds the three channels before ReLU.
func (a acmLayer) mix(mapped []*Node) (x *Node) {
	var h, scores []*Node
	for i, c := range acmChannels {
		h = append(h, Max(mapped[i], ZerosLike(mapped[i])))
		v := a.b.Param(Param{Name: a.name + "att_vec_" + c, Shape: []int{a.width, 1}, Limit: 1})
		scores = append(scores, Sigmoid(Dot(h[i], v).Product()))
	}
	m := a.b.Param(Param{Name: a.name + "att_vec", Shape: []int{3, 3}, Limit: 1 / math.Sqrt(3)})
	share := Softmax(DivScalar(Dot(Concatenate(scores, 1), m).Product(), 3), 1)
	for i := range acmChannels {
		part := Mul(h[i], Slice(share, AxisRange(), AxisElem(i)))
		if x == nil {
			x = part
		} else {
			x = Add(x, part)
		}
	}
	return x
}
