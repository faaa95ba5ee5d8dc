package models

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/layers"
)

// remedies lists the settings of known remedies for over-smoothing. The models "gcn" and "gat" have these settings. The
// remedies are DropEdge (see [dropEdge]), Half-Hop (see [halfHop]), and a normalisation after every layer, such as
// PairNorm (see [layers.PairNorm]). Here PairNorm is applied to the result X + h(X) of a layer. The authors of PairNorm
// apply it inside h, before the activation.
var remedies = []string{"norm-layers", "norm-scale", "drop-edge", "half-hop", "half-hop-alpha"}

// checkRemedies returns an error if both DropEdge and Half-Hop are switched on. DropEdge leaves out edges, and Half-Hop
// splits edges in two. The code supports only one of them at a time.
func checkRemedies(c Config) error {
	if c.DropEdge > 0 && c.HalfHop > 0 {
		return fmt.Errorf("drop-edge is %g and half-hop is %g: choose one of them", c.DropEdge, c.HalfHop)
	}
	return nil
}

// normOfLayers is the normalisation after every layer. It is nil if there is none.
func (c Config) normOfLayers() func(x *Node) *Node {
	switch c.NormLayers {
	case "layer":
		return layers.LayerNorm
	case "pair", "pair-si":
		return func(x *Node) *Node { return layers.PairNorm(x, c.NormScale, c.NormLayers == "pair-si") }
	}
	return nil
}
