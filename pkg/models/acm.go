package models

import (
	"fmt"
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	Register(Kind{Name: "acm-gcn", Weighted: true, Title: "ACM-GCN",
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
// 1). Its parameters have the names of the authors' code, https://github.com/SitaoLuan/ACM-GNN. A layer mixes three
// channels of its input X, with weights a of each node:
//
//	L = ReLU(P X W_L), H = ReLU((I - P) X W_H), I = ReLU(X W_I)                   X [n, d]; L, H and I [n, d']
//	[a_L, a_H, a_I] = softmax([σ(L v_L), σ(H v_H), σ(I v_I)] M / T)               [n, 3], temperature T = 3
//	X' = a_L L + a_H H + a_I I                                                    each row times the node's weight
//
// P = (D+I)^-1 (A+I) is the low-pass filter, the mean over a node and its neighbours, and I - P the high-pass filter.
// W_L, W_H and W_I, [d, d'], v_L, v_H and v_I, [d', 1], and M, [3, 3], are trained. X' of the last layer are scores of
// classes. Dropout acts between layers.
//
// X' is never negative, so that the publication's ReLU of it is left out, and the logit for two classes is the
// difference of two columns. Published are two layers, width 64, and dropout from 0 to 0.9. The code also multiplies X'
// by 3 and drops node features. ACMII-GCN (option 2), ACM-GCN+ and ACM-GCN++ are not implemented.
type acm struct {
	mean      *sparse.Matrix
	low, high *tensors.Tensor // P F and (I - P) F of dense node features F, computed once
}

func (a *acm) Prepare(g *graphs.Graph, arrays *Arrays) {
	mean := sparse.Adjacency(g).WithSelfLoops().RowNormalised()
	a.mean = arrays.Matrix(mean)
	if _, yes := Sparse(g); yes {
		return
	}
	low := mean.Product(g.Features, g.NumFeatures)
	high := slices.Clone(g.Features)
	for i, v := range low {
		high[i] -= v
	}
	a.low, a.high = arrays.Rows(low, g.NumFeatures), arrays.Rows(high, g.NumFeatures)
}

// acmChannels are L, H and I in names of parameters, such as weight_low for W_L.
var acmChannels = []string{"low", "high", "mlp"}

// Build implements [Network]. The representation is what the last layer reads or, of a single layer, X'.
func (a *acm) Build(b *Builder) Output {
	mean := b.Matrix(a.mean)
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
		case a.low != nil:
			w := layer.weights(b.Features)
			mapped = []*Node{Dot(b.Array(a.low), w[0]).Product(), Dot(b.Array(a.high), w[1]).Product(),
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

// acmLayer is a layer; name begins the names of its parameters, such as "gcns.0.", and width is d'.
type acmLayer struct {
	b     *Builder
	name  string
	width int
}

// weights declares W_L, W_H and W_I.
func (a acmLayer) weights(in int) (w []*Node) {
	for _, c := range acmChannels {
		w = append(w, a.b.Param(Param{Name: a.name + "weight_" + c, Shape: []int{in, a.width},
			Limit: 1 / math.Sqrt(float64(a.width))}))
	}
	return w
}

// filter is P X W_L, (I - P) X W_H and X W_I, for y with the products X W side by side. Those with P are one product.
func (a acmLayer) filter(mean sparse.Operator, y *Node) []*Node {
	columns := func(x *Node, from, to int) *Node { return Slice(x, AxisRange(), AxisRange(from*a.width, to*a.width)) }
	averaged := mean.Product(columns(y, 0, 2))
	return []*Node{columns(averaged, 0, 1), Sub(columns(y, 1, 2), columns(averaged, 1, 2)), columns(y, 2, 3)}
}

// mix is X', for the three channels before ReLU.
func (a acmLayer) mix(mapped []*Node) (x *Node) {
	var h, scores []*Node
	for i, c := range acmChannels {
		h = append(h, relu(mapped[i]))
		v := a.b.Param(Param{Name: a.name + "att_vec_" + c, Shape: []int{a.width, 1}, Limit: 1})
		scores = append(scores, Sigmoid(Dot(h[i], v).Product()))
	}
	m := a.b.Param(Param{Name: a.name + "att_vec", Shape: []int{3, 3}, Limit: 1 / math.Sqrt(3)})
	share := Softmax(DivScalar(Dot(Concatenate(scores, 1), m).Product(), 3), 1)
	for i := range acmChannels {
		x = loop.Accumulate(x, Mul(h[i], Slice(share, AxisRange(), AxisElem(i))))
	}
	return x
}
