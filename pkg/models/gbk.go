package models

import (
	"fmt"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	Register(Kind{Name: "gbk-gnn", Title: "GBK-GNN",
		Layer: "ReLU(W_f x_i + mean over neighbours of α_ij W_s x_j + (1-α_ij) W_d x_j + b), " +
			"α_ij = σ(W_g [x_i, x_j] + c)",
		Reference: "Du et al., WWW 2022",
		Shared:    []string{"forward", "hidden", "dropout"},
		Own:       gbkSettings{Lambda: 1.84},
		Floor:     true, // the loss of the gates stays above 0, even if all nodes are classified right
		Defaults:  func(c *Config) { c.Forward, c.Hidden, c.Dropout = 2, 64, 0.5 },
		Check: func(c Config) error {
			if c.Forward < 2 {
				return fmt.Errorf("forward is %d: gbk-gnn needs 2 at least, "+
					"since its first layer reads the features and its last one writes the logits", c.Forward)
			}
			return nil
		},
		New: func(Config) Network { return &gbk{} }})
}

// gbkSettings are GBK-GNN's own settings: the weight λ of the gates' loss.
type gbkSettings struct {
	Lambda float64 `help:"weight of the loss that teaches gates whether an edge joins nodes of one class" most:"1e6"`
}

// gbk is GBK-GNN (Du et al., "GBK-GNN: Gated Bi-Kernel Graph Neural Networks for Modeling Both Homophily and
// Heterophily", WWW 2022). A layer has two kernels (linear maps): W_s for neighbours of the same class, and W_d for
// neighbours of other classes. Each edge has a gate α_ij, which selects between the two kernels. There are L layers.
// X_0 are the node features, [n, features], X_L are the logits, [n, outputs], and all other X_l are [n, d]:
//
//	X_{l+1} = ReLU(X_l W_f^T + M + b)                              without ReLU in the last layer
//	M_i     = 1/|N(i)| Σ_{j ∈ N(i)} (α_ij W_s x_j + (1 - α_ij) W_d x_j)
//	α_ij    = σ(s_ij),  s_ij = W_g [x_i, x_j] + c                  W_g: [1, 2 width of X_l]
//	loss    = cross-entropy + λ Σ_l mean of BCE(α_ij, [y_i = y_j])  over edges that join training nodes
//
// x_i is row i of X_l. N(i) are i's neighbours without i itself. M_i is 0 if i has no neighbours. BCE is the binary
// cross-entropy. Its target [y_i = y_j] is 1 if the nodes i and j are of one class, else 0. Dropout acts on all X_l
// except X_0 and X_L.
//
// This network follows the publication. The authors' code, https://github.com/Xzh0u/GBK-GNN, differs from it in these
// points:
//
//   - The second kernel reads x_i instead of x_j.
//   - The result of each kernel has half the width of the layer. The two results are concatenated instead of added.
//   - LeakyReLU is applied to the score s_ij.
//   - The loss of the gates is the cross-entropy of the softmax of [1-α, α]. Its target says whether one of an edge's
//     two nodes is of class 0, instead of whether both nodes are of one class.
//
// The code's defaults are L = 2, width 16, dropout 0.5 and λ = 1.84. (The code's script for Cora, CiteSeer, Texas and
// Cornell has λ = 30, for the code's own loss of the gates.)
type gbk struct {
	pattern   *sparse.Pattern
	adjacency *sparse.Matrix
	degrees   *tensors.Tensor
}

// Prepare makes the pattern of the edges, the adjacency for sums over all neighbours, and the array of the degrees.
func (n *gbk) Prepare(g *graphs.Graph) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	a := sparse.Adjacency(g)
	if n.pattern, err = sparse.NewPattern(a, sparse.PatternOptions{Uses: sparse.ForLoopAttention}); err != nil {
		return nil, nil, err
	}
	order, arrays = n.pattern.Order(), n.pattern.Tensors()
	if n.adjacency, err = sparse.NewMatrix(a, order); err != nil {
		return nil, nil, err
	}
	degrees := make([]float32, a.Rows)
	for p, i := range order {
		degrees[p] = float32(a.Start[i+1] - a.Start[i])
	}
	n.degrees = tensors.FromFlatDataAndDimensions(degrees, len(degrees), 1)
	return order, append(slices.Concat(arrays, n.adjacency.Tensors()), n.degrees), nil
}

// Build implements [Network]. The representation, [n, d], is the input of the last layer.
func (n *gbk) Build(b *Builder) (out Output) {
	c := b.Config
	edges := edgeGates{b.Edges(n.pattern).Bare(), b.Matrix(n.adjacency), b.Array(n.degrees)}
	teach, losses := edges.teacher(b.Known()), []*Node(nil)
	var x *Node
	for l := range c.Forward {
		width := c.Hidden
		if l == c.Forward-1 {
			width = b.Outputs
		}
		next, g := edges.layer(b, fmt.Sprintf("conv%d.", l+1), x, width)
		losses = append(losses, Reshape(teach(g), 1))
		out.Representation = x
		if x = next; l < c.Forward-1 {
			x = b.Dropout(Max(x, ZerosLike(x)))
		}
	}
	out.Logits = x
	out.Penalty = MulScalar(ReduceAllSum(Concatenate(losses, 0)), OwnOf[gbkSettings](c).Lambda)
	return out
}

// layer returns the result of a layer of [gbk] before its activation, and the layer's gate. If x is nil, the layer
// reads the node features. The layer computes M of [gbk] as
//
//	M = D^-1 (A X W_d^T + α X (W_s - W_d)^T)
//
// where X is the layer's input, and α, [n, n], holds the gates. This formula has two sums over neighbours, A X W_d^T
// and α X (W_s - W_d)^T. Only the second sum has weights that the model computes.
func (e edgeGates) layer(b *Builder, name string, x *Node, width int) (y *Node, g edgeGate) {
	if x == nil && b.Features < width {
		x = b.denseFeatures() // narrow features are summed before the linear map; x stays nil if they are sparse
	}
	in := b.Features
	if x != nil {
		in = x.Shape().Dimensions[1]
	}
	weight := func(part string, out, in int) *Node { return b.glorot(name+part, in, out, out, in) }
	root, other := weight("lin_r.weight", width, in), weight("lin_n.weight", width, in) // W_f and W_d
	difference := Sub(weight("lin_p.weight", width, in), other)
	maps := []*Node{Reshape(weight("gate.weight", 1, 2*in), 2, in), root}
	narrow := x != nil && in < width // if so, sums over neighbours precede the linear map, since x has fewer columns
	if !narrow {
		maps = append(maps, other, difference)
	}
	all := b.mapped(x, Concatenate(maps, 0))
	columns := func(from, count int) *Node { return Slice(all, AxisRange(), AxisRange(from, from+count)) }
	shift := b.Param(Param{Name: name + "gate.bias", Shape: []int{1}})
	g = edgeGate{Add(columns(0, 1), ExpandLeftToRank(shift, 2)), columns(1, 1)}
	var mean *Node
	if narrow {
		sums := Concatenate([]*Node{e.sum.Product(x), e.gated(g, x)}, 1)
		mean = b.mapped(e.mean(sums), Concatenate([]*Node{other, difference}, 1))
	} else {
		mean = e.mean(Add(e.sum.Product(columns(width+2, width)), e.gated(g, columns(2*width+2, width))))
	}
	bias := b.Param(Param{Name: name + "bias", Shape: []int{width}})
	return Add(Add(columns(2, width), mean), ExpandLeftToRank(bias, 2)), g
}
