package models

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	Register(Kind{Name: "vanilla-gcn", Title: "vanilla-GCN",
		Layer:     "Â ReLU(Â X W1 + b1) W2 + b2, Â the adjacency with self loops, symmetrically normalised",
		Reference: "Kipf and Welling, ICLR 2017", Shared: []string{"hidden", "dropout"}, Depth: two,
		Defaults: func(c *Config) { c.Hidden, c.Dropout = 64, 0.5 },
		New:      func(Config) Network { return &vanillaGCN{} }})
}

// two is the function Depth of every [Kind] whose networks have two layers.
func two(Config) string { return "2" }

// vanillaGCN is the graph convolutional network of Kipf and Welling (ICLR 2017), without skip connections. It has two
// layers:
//
//	H      = dropout(ReLU(Â F W1^T + b1))         features F [n, features], H [n, d]
//	logits = Â H W2^T + b2                        [n, outputs]
//
// Here Â = D^-1/2 (A + I) D^-1/2, where A is the adjacency matrix and D is the diagonal matrix of the row sums of
// A + I. Parameters have the names and initial values of two GCNConv layers of PyTorch Geometric, conv1 and conv2. The
// defaults, width 64 and dropout 0.5, are those of He et al. (BernNet, NeurIPS 2021), whose measurements the paper's
// tables quote. Kipf and Welling have width 16, and drop entries of F as well.
type vanillaGCN struct{ matrix *sparse.Matrix }

// Prepare lays out the matrix Â of [vanillaGCN], [n, n].
func (v *vanillaGCN) Prepare(g *graphs.Graph) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	if v.matrix, err = sparse.SymNorm(g); err != nil {
		return nil, nil, err
	}
	return v.matrix.Order(), v.matrix.Tensors(), nil
}

// Build implements [Network] by the formula at [vanillaGCN]. The representation is H, [n, d].
func (v *vanillaGCN) Build(b *Builder) Output {
	a := b.Matrix(v.matrix)
	conv := func(name string, in, out int, times func(w *Node) *Node) *Node {
		x := a.Product(times(b.glorot(name+".lin.weight", in, out, out, in)))
		return Add(x, ExpandLeftToRank(b.Param(Param{Name: name + ".bias", Shape: []int{out}}), 2))
	}
	h := conv("conv1", b.Features, b.Config.Hidden, b.Encoded)
	h = b.Dropout(Max(h, ZerosLike(h)))
	logits := conv("conv2", b.Config.Hidden, b.Outputs, func(w *Node) *Node { return times(h, w) })
	return Output{Logits: logits, Representation: h}
}
