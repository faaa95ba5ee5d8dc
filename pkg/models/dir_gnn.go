package models

import (
	"errors"
	"fmt"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	Register(Kind{Name: "dir-gnn", Title: "Dir-GNN",
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
		New: func(c Config) Network { return &dirGNN{dirSettings: OwnOf[dirSettings](c), layers: c.Forward} }})
}

// dirSettings are Dir-GNN's own settings. Jump is the setting "jk", and Unit is the setting "l2-norm". All other fields
// have the names of their settings. See [dirGNN].
type dirSettings struct {
	Conv       string  `help:"messages, normalised by degrees or as means beside the node itself" oneof:"gcn,sage"`
	Alpha      float64 `help:"weight of messages against the direction of edges, beside 1 - alpha" most:"1"`
	LearnAlpha bool    `help:"train alpha, beginning with the value given"`
	Jump       string  `name:"jk" help:"jumping knowledge, what the head reads of all layers" oneof:"none,max,cat"`
	Unit       bool    `name:"l2-norm" help:"scale the state of every node to length 1 after each layer"`
}

// dirGNN is Dir-GNN (Rossi, Charpentier, Di Giovanni, Frasca, Günnemann and Bronstein, "Edge Directionality Improves
// Learning on Heterophilic Graphs", LoG 2023). The parameters have the names of the authors' code,
// https://github.com/emalgorithm/directed-graph-neural-network. A_ij = 1 if an edge leads from node i to node j. Then j
// is an out-neighbour of i, and i is an in-neighbour of j. A node gets messages from its out-neighbours and from its
// in-neighbours. Messages of the two kinds have different linear maps. The setting "conv" chooses between two kinds of
// layers:
//
//	gcn:   H = α (S X W_out^T + b_out) + (1-α) (S^T X W_in^T + b_in)                         X [n, d], H [n, d']
//	       S = D_out^-1/2 A D_in^-1/2, [n, n]; no self loops are added
//	sage:  H = X W^T + b + α (D_out^-1 A X W_out^T + b_out) + (1-α) (D_in^-1 A^T X W_in^T + b_in)
//	X'     = unit(dropout(ReLU(H)))         unit scales rows to length 1 if the setting l2-norm is on
//	logits = Z W^T + b                      Z = max(X_1, …, X_L), [n, d], or [X_1, …, X_L], [n, L d]
//
// D_out holds the number of each node's out-neighbours, and D_in the number of its in-neighbours. X' is the result of
// the layer, and d' is its number of columns. X_1 … X_L are the results of all L layers. The setting "jk" (jumping
// knowledge) chooses Z: "max" is the largest value, entry by entry, and "cat" puts the results side by side. If the
// setting is "none", there is no linear map after the layers, and H of the last layer are the logits.
//
// In gcn and in sage, α is the weight of the messages from out-neighbours. The same is true of the authors' code.
// There, the name of the linear map W_out is src_to_dst for gcn, and dst_to_src for sage. If α is trained, it is one
// number for all layers, and may leave the range from 0 to 1.
//
// The defaults are those of the authors' program: gcn, 3 layers of width 64, α = 1/2, max, no dropout and no l2-norm.
// The published settings for Squirrel and Chameleon (unfiltered) are gcn, α = 1, max, l2-norm, width 128, and patience
// 400. Squirrel has 4 layers and the learning rate 0.01. Chameleon has 5 layers and the learning rate 0.005. The
// published settings for Roman-empire with directed edges are sage, cat, 5 layers of width 256, dropout 0.2, and
// learning rate 0.01.
//
// Self loops of a directed graph are kept, as in the authors' code. The authors' code divides every row of the node
// features by its sum, and this network does not.
//
// On an undirected graph, S^T equals S. A gcn layer then computes S X (α W_out + (1-α) W_in)^T, with one product with S
// instead of two. In the same way, a sage layer takes one product with A instead of two.
type dirGNN struct {
	dirSettings
	layers int
	matrix *sparse.Matrix
	// share and features are the arrays of each [neighbourhood], nil where there are none.
	share, features []*tensors.Tensor
}

// Build implements [Network]. If the setting "jk" is "max" or "cat", the representation is Z of [dirGNN]. If it is
// "none", the representation is the input of the last layer, [n, d]. With "none" and a single layer, this input would
// be the node features, and Build returns the logits as the representation instead.
func (d *dirGNN) Build(b *Builder) Output {
	all, alpha := d.neighbourhoods(b), d.alpha(b)
	var x *Node // nil for the first layer, which reads the node features
	var states []*Node
	for l := range d.layers {
		if d.Jump == "none" && l == d.layers-1 {
			logits := d.layer(b, all, alpha, l, x, b.Outputs)
			if x == nil {
				x = logits
			}
			return Output{Logits: logits, Representation: x}
		}
		h := d.layer(b, all, alpha, l, x, b.Config.Hidden)
		x = b.Dropout(Max(h, ZerosLike(h)))
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

// alpha returns the scalar α, the weight of the messages from out-neighbours.
func (d *dirGNN) alpha(b *Builder) *Node {
	if !d.LearnAlpha {
		return Scalar(b.Graph, dtypes.Float32, d.Alpha)
	}
	return Reshape(b.Param(Param{Name: "alpha", Shape: []int{1}, Value: d.Alpha}))
}

// layer returns H of [dirGNN] for layer l, [n, width]. The layer's input is x, [n, d], or the node features if x is
// nil. The argument all is the result of [dirGNN.neighbourhoods].
func (d *dirGNN) layer(b *Builder, all []neighbourhood, alpha *Node, l int, x *Node, width int) *Node {
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
	if len(all) == 1 {
		return Add(all[0].aggregate(b, x, Add(maps[0], maps[1])), h)
	}
	for i, unused := range []float64{0, 1} { // for α = unused, neighbourhood i has weight 0
		if d.LearnAlpha || d.Alpha != unused {
			h = Add(all[i].aggregate(b, x, maps[i]), h)
		}
	}
	return h
}

// Unused implements [Twin]. A file with the weights of the authors' PyTorch model holds α under the name "alpha", and
// again under a name for each layer. This network reads only "alpha", and only if α is trained. Unused returns the
// names that it does not read.
func (d *dirGNN) Unused() (names []string) {
	if !d.LearnAlpha {
		names = append(names, "alpha")
	}
	for l := range d.layers {
		names = append(names, fmt.Sprintf("convs.%d.alpha", l))
	}
	return names
}
