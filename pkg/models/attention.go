package models

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// additive returns the attention scores of Veličković et al. (ICLR 2018) before the softmax, [places, heads]. For each
// head, the score of an edge from node j to node i is LeakyReLU(s_j + t_i). The number s_j belongs to j as a source,
// and t_i belongs to i as a target. The argument source is s, and the argument target is t, [n, heads] each.
func additive(edges sparse.Edges, source, target *Node) *Node {
	return layers.ActivationLeakyReLU.Of(Add(edges.Sources(source), edges.Targets(target)))
}

// checkHeads returns an error if the width cannot be divided equally among the heads.
func checkHeads(c Config) error {
	if c.Hidden%c.Heads != 0 {
		return fmt.Errorf("hidden is %d, heads %d: the heads stand side by side, so choose a width that is a multiple "+
			"of their number", c.Hidden, c.Heads)
	}
	return nil
}
