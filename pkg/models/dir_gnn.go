package models

import (
	"errors"
	"fmt"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	Register(Kind{Name: "dir-gnn", Title: "Dir-GNN",
		Layer:     "ReLU(α S X W_out + (1-α) S^T X W_in), S = D_out^-1/2 A D_in^-1/2 of directed edges",
		Reference: "Rossi et al., LoG 2023",
		Shared:    []string{"forward", "hidden", "dropout", "undirected"},
		Own: OwnSettings(dirSettings{Conv: "gcn", Alpha: 0.5, Jump: "max"}, func(s *dirSettings) []Setting {
			return []Setting{
				{Name: "conv", Value: &s.Conv, OneOf: []string{"gcn", "sage"},
					Help: "messages: gcn (normalised by degrees) or sage (means, and the node itself apart)"},
				{Name: "alpha", Value: &s.Alpha, Most: 1,
					Help: "weight of messages against the edges' direction; that of those along it is 1 - alpha"},
				{Name: "learn-alpha", Value: &s.LearnAlpha, Help: "train alpha, beginning with the value given"},
				{Name: "jk", Value: &s.Jump, OneOf: []string{"none", "max", "cat"},
					Help: "jumping knowledge, what the head reads of all layers: max, cat, or none (no head)"},
				{Name: "l2-norm", Value: &s.Unit, Help: "scale the state of every node to length 1 after each layer"},
			}
		}),
		// The defaults of the authors' programme.
		Defaults: func(c *Config) { c.Forward, c.Hidden = 3, 64 },
		Check: func(c Config) error {
			if c.Forward < 1 {
				return errors.New("dir-gnn with 0 forward layers reads nothing: choose forward from 1")
			}
			return nil
		},
		New: func(c Config) Network { return &dirGNN{dirSettings: OwnOf[dirSettings](c), layers: c.Forward} }})
}

// dirSettings are the settings that Dir-GNN has besides the shared settings.
type dirSettings struct {
	Conv       string
	Alpha      float64
	LearnAlpha bool
	Jump       string
	Unit       bool
}

// dirGNN is Dir-GNN (Rossi, Charpentier, Di Giovanni, Frasca, Günnemann and Bronstein, "Edge Directionality Improves
// Learning on Heterophilic Graphs", LoG 2023), with the parameters' names of the authors' code,
// https://github.com/emalgorithm/directed-graph-neural-network. A_ij = 1 where an edge leads from i to j. A node gets
// messages from its out-neighbours, which it points to, and from its in-neighbours, which point to it. Both have a
// linear map of their own:
//
//	gcn:   H = α (S X W_out^T + b_out) + (1-α) (S^T X W_in^T + b_in)                         X [n, d], H [n, d']
//	       S = D_out^-1/2 A D_in^-1/2, [n, n]; no self loops are added
//	sage:  H = X W^T + b + α (D_out^-1 A X W_out^T + b_out) + (1-α) (D_in^-1 A^T X W_in^T + b_in)
//	X'     = unit(dropout(ReLU(H)))         unit, with the setting l2-norm: rows of length 1
//	logits = Z W^T + b                      Z = max(X_1, …, X_L), [n, d], or [X_1, …, X_L], [n, L d]
//
// Without jumping knowledge (the setting jk), there is no linear map after the layers: H of the last layer are the
// logits. For both convolutions, α is the weight of what comes from out-neighbours. This is so in the publication and
// in its code, although the code calls the map of out-neighbours src_to_dst for gcn and dst_to_src for sage. A learnt α
// is one number for all layers, and is not kept between 0 and 1.
//
// The defaults are those of the authors' programme: gcn, 3 layers of width 64, α = 1/2, max, neither dropout nor
// l2-norm. The published settings for Squirrel and Chameleon (unfiltered) are gcn, α = 1, max, l2-norm, width 128, 4
// and 5 layers, learning rate 0.01 and 0.005, patience 400. For Roman-empire with directed edges they are sage, cat, 5
// layers of width 256, dropout 0.2, learning rate 0.01. As in the code, self loops among the directed edges stay. The
// code also divides rows of features by their sums. Here features are as the dataset has them.
//
// On an undirected graph, both directions have the same matrix S. A layer is then one product of S with X (α W_out +
// (1-α) W_in)^T.
type dirGNN struct {
	dirSettings
	layers int
	matrix *sparse.Matrix
	dense  bool // features are dense: Prepare computes their sums or means over neighbourhoods, once
}

// Build is the network; its representation, [n, d] or [n, L d], is what the last linear map reads.
func (d *dirGNN) Build(b *Builder) Output {
	all, alpha := d.neighbourhoods(b.Arrays), d.alpha(b)
	var x *Node // nil stands for the node features
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

// alpha is the weight of what comes from out-neighbours, a scalar.
func (d *dirGNN) alpha(b *Builder) *Node {
	if !d.LearnAlpha {
		return Scalar(b.Graph, dtypes.Float32, d.Alpha)
	}
	return Reshape(b.Param(Param{Name: "alpha", Shape: []int{1}, Value: d.Alpha}))
}

// layer is H of x, [n, d] to [n, width]. A nil x stands for the node features.
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
	for i, unused := range []float64{0, 1} { // unused is the α with which neighbourhood i has no weight
		if d.LearnAlpha || d.Alpha != unused {
			h = Add(all[i].aggregate(b, x, maps[i]), h)
		}
	}
	return h
}

// Unused are the names under which PyTorch files hold copies of α that this network does not read.
func (d *dirGNN) Unused() (names []string) {
	if !d.LearnAlpha {
		names = append(names, "alpha")
	}
	for l := range d.layers {
		names = append(names, fmt.Sprintf("convs.%d.alpha", l))
	}
	return names
}
