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

// checkRemedies refuses DropEdge together with Half-Hop, since both change the graph.
func checkRemedies(c Config) error {
	if c.DropEdge > 0 && c.HalfHop > 0 {
		return fmt.Errorf("drop-edge is %g and half-hop is %g: choose one of them", c.DropEdge, c.HalfHop)
	}
	return nil
}

// layerIf returns the argument layer, the zero value of the type of a network's layers. If the settings ask for
// remedies, gates or normalisations, the layers are of another type, and layerIf returns nil.
func layerIf(c Config, layer any) any {
	if _, projected := c.projection(); projected || c.BlockGate || c.remedied() {
		return nil
	}
	return layer
}

// remedied tells whether any remedy is switched on.
func (c Config) remedied() bool { return c.normOfLayers() != nil || c.DropEdge > 0 || c.HalfHop > 0 }

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
