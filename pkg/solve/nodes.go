package solve

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// zeros returns arrays of zeros in the nodes' shapes. Sums of cotangents start from these arrays.
func zeros(nodes []*Node) []*Node {
	out := make([]*Node, len(nodes))
	for i, n := range nodes {
		out[i] = loop.Zeros(n)
	}
	return out
}

// stopped returns StopGradient of each node, so that GoMLX does not differentiate through the nodes.
func stopped(nodes []*Node) []*Node {
	out := make([]*Node, len(nodes))
	for i, n := range nodes {
		out[i] = StopGradient(n)
	}
	return out
}
