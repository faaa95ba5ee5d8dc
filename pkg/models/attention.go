package models

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// additive are the attention scores of Veličković et al. (ICLR 2018), LeakyReLU(s_j + t_i) of every edge from j to i,
// for s and t of the nodes, [n, heads]: [places, heads]. LeakyReLU is [layers.ActivationLeakyReLU].
func additive(edges sparse.Edges, source, target *Node) *Node {
	return layers.ActivationLeakyReLU.Of(Add(edges.Sources(source), edges.Targets(target)))
}

// checkHeads refuses widths that cannot be divided among the heads.
func checkHeads(c Config) error {
	if c.Hidden%c.Heads != 0 {
		return fmt.Errorf("hidden is %d, heads %d: the heads stand side by side, so choose a width that is a multiple "+
			"of their number", c.Hidden, c.Heads)
	}
	return nil
}
