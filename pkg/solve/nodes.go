package solve

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// zeros are zeros of the nodes' shapes, the initial values of sums of cotangents.
func zeros(nodes []*Node) []*Node {
	out := make([]*Node, len(nodes))
	for i, n := range nodes {
		out[i] = loop.Zeros(n)
	}
	return out
}

// stopped are the nodes cut off from differentiation.
func stopped(nodes []*Node) []*Node {
	out := make([]*Node, len(nodes))
	for i, n := range nodes {
		out[i] = StopGradient(n)
	}
	return out
}
