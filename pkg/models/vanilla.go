package models

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	Register(Kind{Name: "vanilla-gcn", Weighted: true, Alias: "pyg-gcn", Title: "vanilla-GCN",
		Layer:     "Â ReLU(Â X W1 + b1) W2 + b2, Â the adjacency with self loops, symmetrically normalised",
		Reference: "Kipf and Welling, ICLR 2017", Shared: []string{"hidden", "dropout"}, Depth: two,
		Defaults: func(c *Config) { c.Hidden, c.Dropout = 64, 0.5 },
		New:      withMatrix(symmetricWithLoops, vanillaGCN)})
}

func two(Config) string { return "2" }

// vanillaGCN is the graph convolutional network of Kipf and Welling (ICLR 2017), without skip connections:
//
//	H      = dropout(ReLU(Â F W1^T + b1))         features F [n, features], H [n, d]
//	logits = Â H W2^T + b2                        [n, outputs]
//
// Â = D^-1/2 (A + I) D^-1/2, D the row sums of A + I. Parameters have the names and initial values of two GCNConv
// layers of PyTorch Geometric. The defaults are those of He et al. (BernNet, NeurIPS 2021), whose measurements the
// paper's tables quote. Kipf and Welling have width 16, and drop entries of F, too.
//
// The representation is H.
func vanillaGCN(b *Builder, a sparse.Operator) Output {
	conv := func(name string, in, out int, times func(w *Node) *Node) *Node {
		x := a.Product(times(b.glorot(name+".lin.weight", in, out, out, in)))
		return Add(x, ExpandLeftToRank(b.Param(Param{Name: name + ".bias", Shape: []int{out}}), 2))
	}
	h := conv("conv1", b.Features, b.Config.Hidden, b.Encoded)
	h = b.Dropout(relu(h))
	logits := conv("conv2", b.Config.Hidden, b.Outputs, func(w *Node) *Node { return times(h, w) })
	return Output{Logits: logits, Representation: h}
}

func init() {
	Register(Kind{Name: "vanilla-gat", Alias: "pyg-gat", Title: "vanilla-GAT", Check: checkHeads,
		Layer:     "ELU of K heads side by side, then one head; softmax of LeakyReLU(s_j + t_i) over neighbours",
		Reference: "Veličković et al., ICLR 2018", Shared: []string{"hidden", "heads", "dropout"}, Depth: two,
		Own:      vanillaGATSettings{AttentionDropout: 0.6},
		Defaults: func(c *Config) { c.Hidden, c.Heads, c.Dropout = 64, 8, 0.6 },
		New:      func(Config) Network { return &vanillaGAT{} }})
}

type vanillaGATSettings struct {
	AttentionDropout float64 `help:"probability of dropping an edge's attention coefficient" most:"0.99"`
}

// vanillaGAT is the graph attention network of Veličković et al. (ICLR 2018), without skip connections:
//
//	H      = dropout(ELU([A^(1) Y^(1) … A^(K) Y^(K)] + b1)),  Y = F W1^T      features F [n, features], Y, H [n, d]
//	logits = A' Y' + b2,  Y' = H W2^T                                         [n, outputs]
//	A^(k)_ij = dropout(softmax_j(LeakyReLU(a_src · y_j + a_dst · y_i)))       y_i row i of Y^(k), [n, d/K]
//
// The softmax is over i's neighbours j and i itself; a_src and a_dst are vectors of the head. A' of Y' has one head.
// Parameters have the names and initial values of two GATConv layers of PyTorch Geometric. The defaults are published;
// the publication drops entries of F, too. He et al. (BernNet, NeurIPS 2021), whose measurements the paper's tables
// quote, have 8 heads of 64 units (--hidden 512).
type vanillaGAT struct{ pattern *sparse.Pattern }

func (v *vanillaGAT) Prepare(g *graphs.Graph, a *Arrays) {
	v.pattern = a.Pattern(sparse.Adjacency(g).WithSelfLoops(), sparse.PatternOptions{})
}

// Build implements [Network]. The representation is H.
func (v *vanillaGAT) Build(b *Builder) Output {
	heads, d := b.Config.Heads, b.Config.Hidden
	h := v.conv(b, "conv1", b.Encoded(b.glorot("conv1.lin.weight", b.Features, d, d, b.Features)), heads)
	h = b.Dropout(layers.ActivationELU.Of(h))
	logits := v.conv(b, "conv2", times(h, b.glorot("conv2.lin.weight", d, b.Outputs, b.Outputs, d)), 1)
	return Output{Logits: logits, Representation: h}
}

// conv is [A^(1) Y^(1) … A^(K) Y^(K)] + b for y = [Y^(1) … Y^(K)].
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
