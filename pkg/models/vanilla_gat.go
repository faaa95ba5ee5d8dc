package models

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	Register(Kind{Name: "vanilla-gat", Title: "vanilla-GAT", Check: checkHeads,
		Layer:     "ELU of K heads side by side, then one head; softmax of LeakyReLU(s_j + t_i) over neighbours",
		Reference: "Veličković et al., ICLR 2018", Shared: []string{"hidden", "heads", "dropout"}, Depth: two,
		Own:      vanillaGATSettings{AttentionDropout: 0.6},
		Defaults: func(c *Config) { c.Hidden, c.Heads, c.Dropout = 64, 8, 0.6 },
		New:      func(Config) Network { return &vanillaGAT{} }})
}

// vanillaGATSettings are the settings that vanilla-GAT has besides the shared settings. AttentionDropout is the
// probability with which training drops an attention weight, A^(k)_ij in the formula of [vanillaGAT].
type vanillaGATSettings struct {
	AttentionDropout float64 `help:"probability of dropping an edge's attention coefficient" most:"0.99"`
}

// vanillaGAT is the graph attention network of Veličković et al. (ICLR 2018), without skip connections. It has two
// layers:
//
//	H      = dropout(ELU([A^(1) Y^(1) … A^(K) Y^(K)] + b1)),  Y = F W1^T      features F [n, features], Y, H [n, d]
//	logits = A' Y' + b2,  Y' = H W2^T                                         [n, outputs]
//
// The columns of Y are divided equally among the K heads of the first layer. Y^(k), [n, d/K], is the part of head k.
// The matrix A^(k), [n, n], has the attention weights of head k:
//
//	A^(k)_ij = dropout(softmax_j(LeakyReLU(a_src · y_j + a_dst · y_i)))
//
// Here y_i is row i of Y^(k), and a_src and a_dst are the attention vectors of head k. The softmax is over the
// neighbours j of node i and i itself. LeakyReLU has the slope 0.2. The second layer has one head: A' is computed from
// Y' in the same way.
//
// The width 64 (8 heads of 8 units) and the probability 0.6 for both kinds of dropout are those of the publication.
// Parameters have the names and initial values of two GATConv layers of PyTorch Geometric, conv1 and conv2.
//
// The publication drops entries of F as well; this network does not. He et al. (BernNet, NeurIPS 2021), whose
// measurements the paper's tables quote, have 8 heads of 64 units (--hidden 512).
type vanillaGAT struct{ pattern *sparse.Pattern }

// Prepare lays out the pattern of the edges, with an edge from each node to itself.
func (v *vanillaGAT) Prepare(g *graphs.Graph) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	if v.pattern, err = sparse.NewPattern(sparse.Adjacency(g).WithSelfLoops(), sparse.PatternOptions{}); err != nil {
		return nil, nil, err
	}
	return v.pattern.Order(), v.pattern.Tensors(), nil
}

// Build implements [Network] by the formula at [vanillaGAT]. The representation is H, [n, d].
func (v *vanillaGAT) Build(b *Builder) Output {
	heads, d := b.Config.Heads, b.Config.Hidden
	h := v.conv(b, "conv1", b.Encoded(b.glorot("conv1.lin.weight", b.Features, d, d, b.Features)), heads)
	h = b.Dropout(layers.ActivationELU.Of(h))
	logits := v.conv(b, "conv2", times(h, b.glorot("conv2.lin.weight", d, b.Outputs, b.Outputs, d)), 1)
	return Output{Logits: logits, Representation: h}
}

// conv computes one layer of [vanillaGAT] without activation and dropout of features: [A^(1) Y^(1) … A^(K) Y^(K)] + b,
// where A^(k) has the attention weights of head k. The argument y is [Y^(1) … Y^(K)], and heads is K. The result has
// the shape of y.
func (v *vanillaGAT) conv(b *Builder, name string, y *Node, heads int) *Node {
	edges, width := b.Edges(v.pattern), y.Shape().Dimensions[1]
	score := func(vector string) *Node { // y_i · a for each node i and head, [n, heads]
		a := b.glorot(name+"."+vector, heads, width/heads, 1, heads, width/heads)
		n := y.Shape().Dimensions[0]
		return ReduceSum(Reshape(Mul(y, Reshape(a, 1, width)), n, heads, width/heads), -1)
	}
	scores := additive(edges, score("att_src"), score("att_dst"))
	var mixed *Node
	if p := OwnOf[vanillaGATSettings](b.Config).AttentionDropout; p > 0 && b.Random() {
		mixed = edges.Product(b.DropoutOf(edges.Softmax(scores), p), y)
	} else {
		mixed = edges.Attend(scores, y)
	}
	return Add(mixed, ExpandLeftToRank(b.Param(Param{Name: name + ".bias", Shape: []int{width}}), 2))
}
