package solve

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// zeros returns zeros of the nodes' shapes. They are the initial values of sums of cotangents.
func zeros(nodes []*Node) []*Node {
	out := make([]*Node, len(nodes))
	for i, n := range nodes {
		out[i] = loop.Zeros(n)
	}
	return out
}

// stopped returns the nodes behind StopGradient, so that GoMLX does not differentiate through them.
func stopped(nodes []*Node) []*Node {
	out := make([]*Node, len(nodes))
	for i, n := range nodes {
		out[i] = StopGradient(n)
	}
	return out
}
