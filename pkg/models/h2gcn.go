package models

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/machine"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	Register(Kind{Name: "h2gcn", Title: "H2GCN",
		Layer: "[A1 R, A2 R], A1 and A2 the adjacencies of nodes one and exactly two steps apart, " +
			"symmetrically normalised",
		Reference: "Zhu et al., NeurIPS 2020",
		Shared:    []string{"hidden", "dropout"},
		Own:       h2gcnSettings{Rounds: 2},
		Defaults:  func(c *Config) { c.Hidden, c.Dropout = 64, 0.5 },
		Depth:     func(c Config) string { return fmt.Sprint(OwnOf[h2gcnSettings](c).Rounds) },
		New:       func(Config) Network { return &h2gcn{} }})
}

// h2gcnSettings has K of [h2gcn].
type h2gcnSettings struct {
	Rounds int `help:"rounds of message passing, each of which doubles the width" most:"8"`
}

// h2gcn is H2GCN (Zhu et al., "Beyond homophily in graph neural networks: current limitations and effective designs",
// NeurIPS 2020):
//
//	R_0    = ReLU(X W_e)                            features X [n, m], R_0 [n, d]
//	R_k    = [A1 R_{k-1}, A2 R_{k-1}]               concatenated columns, [n, 2^k d], k = 1 … K
//	logits = dropout([R_0, R_1, …, R_K]) W_c        concatenated columns, [n, (2^{K+1} - 1) d]
//
// A1 joins neighbours, A2 nodes exactly two steps apart. Neither has self loops; each is symmetrically normalised by
// its own degrees, and has rows of zeros for nodes without such others. There are no biases.
//
// The publication has K = 1 and K = 2, d = 64, and dropout 0 or 0.5; K = 2, "H2GCN-2", is the default here and in the
// authors' code, https://github.com/GemsLab/H2GCN, in TensorFlow, which concatenates R_K, R_0, …, R_{K-1}. Parameters
// are those of https://github.com/GitEventhandler/H2GCN-PyTorch.
type h2gcn struct{ one, two *sparse.Matrix }

// Prepare makes A1 and A2, or fails if memory is too small for A2, which may have up to n² entries.
func (h *h2gcn) Prepare(g *graphs.Graph, a *Arrays) {
	adjacency := sparse.Adjacency(g)
	second := must(adjacency.SecondNeighbours(func(entries int) error {
		_, free := machine.Memory()
		return admitSecond(g, entries, free)
	}))
	h.two = a.Matrix(second.SymmetricNormalised())
	h.one = a.Matrix(adjacency.SymmetricNormalised())
}

// secondBytes is the memory that an entry of A2 takes while A2 is made: 68 bytes at the peak for the 45 million entries
// of Tolokers, and some room.
const secondBytes = 72

// admitSecond refuses A2 with so many entries in the free memory, in bytes, or 0 if that is not known.
func admitSecond(g *graphs.Graph, entries int, free int64) error {
	if need := secondBytes * int64(entries); free > 0 && need > free {
		return fmt.Errorf("h2gcn on graph %q (%d nodes, %d edges): %d pairs of nodes are exactly two steps apart, "+
			"for which it needs about %s of memory, but %s are free: choose a model without two-step neighbourhoods, "+
			"or a machine with more memory",
			g.Name, g.NumNodes, len(g.Edges), entries, machine.Bytes(need), machine.Bytes(free))
	}
	return nil
}

// Build implements [Network]. The representation is [R_0, …, R_K]. Weights start as those of Glorot and Bengio (2010),
// as in both codes.
func (h *h2gcn) Build(b *Builder) Output {
	one, two := b.Matrix(h.one), b.Matrix(h.two)
	rounds := OwnOf[h2gcnSettings](b.Config).Rounds
	weight := func(name string, in, out int) *Node { return b.glorot(name, in, out, in, out) }
	r := b.Encoded(Transpose(weight("w_embed", b.Features, b.Config.Hidden), 0, 1))
	r = relu(r)
	all := []*Node{r}
	for range rounds {
		r = Concatenate([]*Node{one.Product(r), two.Product(r)}, 1)
		all = append(all, r)
	}
	r = all[0]
	if rounds > 0 {
		r = Concatenate(all, 1)
	}
	logits := Dot(b.Dropout(r), weight("w_classify", r.Shape().Dimensions[1], b.Outputs)).Product()
	return Output{Logits: logits, Representation: r}
}
