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
// channels L, H and I from its input X. The layer's result X' is a weighted sum of the channels. Every node has weights
// a_L, a_H and a_I of its own:
//
//	L = ReLU(P X W_L), H = ReLU((I - P) X W_H), I = ReLU(X W_I)                   X [n, d]; L, H and I [n, d']
//	[a_L, a_H, a_I] = softmax([σ(L v_L), σ(H v_H), σ(I v_I)] M / T)               [n, 3], temperature T = 3
//	X' = a_L L + a_H H + a_I I                                                    each row times the node's weight
//
// P = (D+I)^-1 (A+I), [n, n], is the low-pass filter: row i of P X is the mean of the rows of X over node i and its
// neighbours. I - P is the high-pass filter. In the formulas of the filters, I is the identity matrix. σ is the
// logistic function. W_L, W_H and W_I, [d, d'], v_L, v_H and v_I, [d', 1], and M, [3, 3], are trained.
//
// X has d columns, and X' has d' columns. The first layer reads the node features. In the last layer, X' are the scores
// of the classes, and d' is the number of classes. In all other layers, d' is the width of the layers. Dropout acts
// between layers.
//
// No entry of X' is negative, since no entry of a channel is negative. Therefore the ReLU that the publication applies
// to X' would change nothing, and is left out. For two classes, the models of this package have a single logit. The
// logit has to be negative for nodes of the first class, so that X' cannot be the logit. Therefore the last layer has
// two columns for two classes, too, and the logit is their difference.
//
// The published settings are two layers, width 64, and a dropout probability that is searched between 0 and 0.9. Where
// the authors' code differs from the publication, this network follows the publication. (The code multiplies X' by 3,
// and also drops entries of the node features.) The variants ACMII-GCN (option 2), ACM-GCN+ and ACM-GCN++ are not
// implemented.
//
// If the node features F are dense (see [Sparse]), Prepare computes P F and (I - P) F once. Each of these two arrays is
// as large as F.
type acm struct {
	mean      *sparse.Matrix
	low, high *tensors.Tensor // P F and (I - P) F, for dense features
}

// Prepare makes the sparse matrix P of [acm]. If the node features F are dense, Prepare also computes P F and
// (I - P) F, which are the same in all training steps.
func (a *acm) Prepare(g *graphs.Graph) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	mean := sparse.Adjacency(g).WithSelfLoops().RowNormalised()
	if a.mean, err = sparse.NewMatrix(mean, nil); err != nil {
		return nil, nil, err
	}
	order, arrays = a.mean.Order(), a.mean.Tensors()
	if _, yes := Sparse(g); yes {
		return order, arrays, nil
	}
	low := mean.Product(g.Features, g.NumFeatures)
	high := slices.Clone(g.Features)
	for i, v := range low {
		high[i] -= v
	}
	array := func(x []float32) *tensors.Tensor {
		return tensors.FromFlatDataAndDimensions(sparse.Permute(order, x, g.NumFeatures), g.NumNodes, g.NumFeatures)
	}
	a.low, a.high = array(low), array(high)
	return order, append(slices.Clone(arrays), a.low, a.high), nil
}

// acmChannels lists the names of the channels L, H and I of [acm], in this order. Names of parameters contain these
// names: for example, W_L is weight_low.
var acmChannels = []string{"low", "high", "mlp"}

// Build implements [Network]. The representation is the input of the last layer or, if there is only one layer, its
// result X'.
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

// filter returns the three channels of [acm] before ReLU: P X W_L, (I - P) X W_H and X W_I. The argument mean is P. The
// argument y has the three products X W_L, X W_H and X W_I side by side. The products P X W_L and P X W_H are then
// computed as one.
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
