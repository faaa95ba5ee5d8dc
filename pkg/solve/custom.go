package solve

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Custom gives y, computed by any means from inputs, a gradient by hand: pull receives y's cotangent and returns those of the
// inputs, of their shapes. Nothing but pull is differentiated.
func Custom(y *Node, inputs []*Node, pull func(v *Node) []*Node) *Node {
	// The first of custom's inputs lends its place to y's cotangent, and must be as large.
	room := loop.Zeros(y)
	return custom(y, append([]*Node{room}, inputs...), func(v *Node) []*Node {
		return append([]*Node{loop.Zeros(v)}, pull(v)...)
	})
}
