package models

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/layers"
)

// remedies are the shared settings of remedies for over-smoothing in residual networks: PairNorm, which acts on
// X + h(X) after every layer (in the authors' residual networks it comes before the activation of the branch), DropEdge
// and Half-Hop. See [layers.PairNorm], [dropEdge] and [halfHop].
var remedies = []string{"norm-layers", "norm-scale", "drop-edge", "half-hop", "half-hop-alpha"}

// checkRemedies refuses two changes of the graph at once.
func checkRemedies(c Config) error {
	if c.DropEdge > 0 && c.HalfHop > 0 {
		return fmt.Errorf("drop-edge is %g and half-hop is %g: choose one of them", c.DropEdge, c.HalfHop)
	}
	return nil
}

// layerIf is the type of a network's layers, unless remedies, gates or normalisations change them.
func layerIf(c Config, layer any) any {
	if _, projected := c.projection(); projected || c.BlockGate || c.remedied() {
		return nil
	}
	return layer
}

// remedied tells whether any of them is at work.
func (c Config) remedied() bool { return c.normOfLayers() != nil || c.DropEdge > 0 || c.HalfHop > 0 }

// normOfLayers is the normalisation after every layer; nil for none.
func (c Config) normOfLayers() func(x *Node) *Node {
	switch c.NormLayers {
	case "layer":
		return layers.LayerNorm
	case "pair", "pair-si":
		return func(x *Node) *Node { return layers.PairNorm(x, c.NormScale, c.NormLayers == "pair-si") }
	}
	return nil
}
