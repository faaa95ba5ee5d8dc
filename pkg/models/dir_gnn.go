package models

import (
	"errors"
	"fmt"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	Register(Kind{Name: "dir-gnn", Weighted: true, Title: "Dir-GNN",
		Layer:     "ReLU(α S X W_out + (1-α) S^T X W_in), S = D_out^-1/2 A D_in^-1/2 of directed edges",
		Reference: "Rossi et al., LoG 2023",
		Shared:    []string{"forward", "hidden", "dropout", "undirected"},
		Own:       dirSettings{Conv: "gcn", Alpha: 0.5, Jump: "max"},
		// The defaults of the shared settings are those of the authors' program.
		Defaults: func(c *Config) { c.Forward, c.Hidden = 3, 64 },
		Check: func(c Config) error {
			if c.Forward < 1 {
				return errors.New("dir-gnn with 0 forward layers reads nothing: choose forward from 1")
			}
			return nil
		},
		// The authors' files have copies of α: "alpha", which is read only if α is trained, and one for each layer.
		Unused: func(c Config) (names []string) {
			if !OwnOf[dirSettings](c).LearnAlpha {
				names = append(names, "alpha")
			}
			for l := range c.Forward {
				names = append(names, fmt.Sprintf("convs.%d.alpha", l))
			}
			return names
		},
		New: func(c Config) Network { return &dirGNN{dirSettings: OwnOf[dirSettings](c), layers: c.Forward} }})
}

// dirSettings are Dir-GNN's own settings; see [dirGNN].
type dirSettings struct {
	Conv       string  `help:"messages, normalised by degrees or as means beside the node itself" oneof:"gcn,sage"`
	Alpha      float64 `help:"weight of messages against the direction of edges, beside 1 - alpha" most:"1"`
	LearnAlpha bool    `help:"train alpha, beginning with the value given"`
	Jump       string  `name:"jk" help:"jumping knowledge, what the head reads of all layers" oneof:"none,max,cat"`
	Unit       bool    `name:"l2-norm" help:"scale the state of every node to length 1 after each layer"`
}

// dirGNN is Dir-GNN (Rossi, Charpentier, Di Giovanni, Frasca, Günnemann and Bronstein, "Edge Directionality Improves
// Learning on Heterophilic Graphs", LoG 2023). The parameters have the names of the authors' code,
// https://github.com/emalgorithm/directed-graph-neural-network. A_ij = 1 if an edge leads from i to its out-neighbour
// j. The setting "conv" chooses the layer:
//
//	gcn:   H = α (S X W_out^T + b_out) + (1-α) (S^T X W_in^T + b_in)                         X [n, d], H [n, d']
//	       S = D_out^-1/2 A D_in^-1/2, [n, n]; no self loops are added
//	sage:  H = X W^T + b + α (D_out^-1 A X W_out^T + b_out) + (1-α) (D_in^-1 A^T X W_in^T + b_in)
//	X'     = unit(dropout(ReLU(H)))         unit scales rows to length 1 if the setting l2-norm is on
//	logits = Z W^T + b                      Z = max(X_1, …, X_L), [n, d], or [X_1, …, X_L], [n, L d]
//
// D_out and D_in have the numbers of out- and in-neighbours, or the sums of the edges' weights. X_1 … X_L are the
// results X' of the layers. The setting "jk" (jumping knowledge) chooses Z; with "none", H of the last layer are the
// logits. A trained α is one number for all layers, and may leave [0, 1].
//
// The authors' code calls W_out src_to_dst for gcn, and dst_to_src for sage. The defaults are those of their program.
// Published for Squirrel and Chameleon (unfiltered) are gcn, α = 1, max, l2-norm, width 128 and patience 400, with 4
// layers and learning rate 0.01, and 5 layers and 0.005; for Roman-empire with directed edges sage, cat, 5 layers of
// width 256, dropout 0.2 and learning rate 0.01.
//
// Self loops of a directed graph are kept, as in the authors' code, which also divides rows of the features by their
// sums. On an undirected graph, S^T = S: a layer takes one product, S X (α W_out + (1-α) W_in)^T, instead of two.
type dirGNN struct {
	dirSettings
	layers int
	matrix *sparse.Matrix
	// For out-neighbours and, on a directed graph, in-neighbours: 1/degree, [n, 1] (sage), and sums or means of dense
	// node features, [n, features]; else nil.
	share, features []*tensors.Tensor
}

// Build implements [Network]. The representation is Z or, without jumping knowledge, what the last layer reads; if this
// is the node features, the logits.
func (d *dirGNN) Build(b *Builder) Output {
	alpha := d.alpha(b)
	var x *Node // nil for the first layer, which reads the node features
	var states []*Node
	for l := range d.layers {
		if d.Jump == "none" && l == d.layers-1 {
			logits := d.layer(b, alpha, l, x, b.Outputs)
			if x == nil {
				x = logits
			}
			return Output{Logits: logits, Representation: x}
		}
		h := d.layer(b, alpha, l, x, b.Config.Hidden)
		x = b.Dropout(relu(h))
		if d.Unit {
			x = unit(x)
		}
		states = append(states, x)
	}
	if d.Jump == "cat" {
		x = Concatenate(states, 1)
	} else {
		for _, s := range states[:len(states)-1] {
			x = Max(x, s)
		}
	}
	return Output{Logits: b.Linear("lin", x, b.Outputs), Representation: x}
}

func (d *dirGNN) alpha(b *Builder) *Node {
	if !d.LearnAlpha {
		return Scalar(b.Graph, dtypes.Float32, d.Alpha)
	}
	return Reshape(b.Param(Param{Name: "alpha", Shape: []int{1}, Value: d.Alpha}))
}

// layer is H of layer l, [n, width], for x, [n, d], or the node features if x is nil.
func (d *dirGNN) layer(b *Builder, alpha *Node, l int, x *Node, width int) *Node {
	in := b.Features
	if x != nil {
		in = x.Shape().Dimensions[1]
	}
	linear := func(name string) (w, bias *Node) { return b.linear(fmt.Sprintf("convs.%d.%s", l, name), in, width) }
	out, into := "lin_src_to_dst", "lin_dst_to_src"
	if d.Conv == "sage" {
		out, into = "conv_dst_to_src.lin_l", "conv_src_to_dst.lin_l"
	}
	w0, b0 := linear(out)
	w1, b1 := linear(into)
	beta := OneMinus(alpha)
	maps := []*Node{Mul(alpha, w0), Mul(beta, w1)}
	h := ExpandLeftToRank(Add(Mul(alpha, b0), Mul(beta, b1)), 2)
	if d.Conv == "sage" {
		w, bias := linear("lin_self")
		h = Add(b.mapped(x, w), Add(h, ExpandLeftToRank(bias, 2)))
	}
	if d.directions() == 1 {
		return Add(d.aggregate(b, 0, x, Add(maps[0], maps[1])), h)
	}
	for k, unused := range []float64{0, 1} { // for α = unused, neighbours k have weight 0
		if d.LearnAlpha || d.Alpha != unused {
			h = Add(d.aggregate(b, k, x, maps[k]), h)
		}
	}
	return h
}

// aggregate sums (gcn) or averages (sage) the rows of x w^T over the out-neighbours (k = 0) or the in-neighbours (1),
// [n, width]. A nil x stands for the node features.
func (d *dirGNN) aggregate(b *Builder, k int, x, w *Node) *Node {
	if x == nil && d.features[k] != nil {
		return b.mapped(b.Array(d.features[k]), w)
	}
	matrix := b.Matrix(d.matrix)
	if k == 1 {
		matrix = matrix.Transposed()
	}
	y := matrix.Product(b.mapped(x, w))
	if d.share[k] != nil {
		y = Mul(y, b.Array(d.share[k]))
	}
	return y
}

// Prepare lays out S (gcn) or A (sage) and, for sage, 1/degree of out- and in-neighbours. Sums or means of dense node
// features are computed here, once.
func (d *dirGNN) Prepare(g *graphs.Graph, arrays *Arrays) {
	a := sparse.Out(g)
	if d.Conv == "gcn" {
		a = a.SymmetricNormalised()
	}
	d.matrix = arrays.Matrix(a)
	_, few := Sparse(g)
	d.share, d.features = make([]*tensors.Tensor, 2), make([]*tensors.Tensor, 2)
	for k, a := range []*sparse.CSR{a, a.Transpose()}[:d.directions()] {
		if d.Conv == "sage" {
			d.share[k] = arrays.ByDegree(a, func(degree float64) float64 {
				if degree == 0 {
					return 0
				}
				return 1 / degree
			})
			a = a.RowNormalised()
		}
		if !few {
			d.features[k] = arrays.Rows(a.Product(g.Features, g.NumFeatures), g.NumFeatures)
		}
	}
}

// directions is 2 for a directed graph, with out- and in-neighbours, else 1.
func (d *dirGNN) directions() int {
	if d.matrix.Symmetric() {
		return 1
	}
	return 2
}
