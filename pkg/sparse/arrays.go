package sparse

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// name of an array that is passed to the program.
type name string

// The arrays of a layout; places are described at [sliced].
const (
	column      name = "column"         // of each place
	columnTwin  name = "column, again"  // equal, for a second product; see [BareEdges.Products]
	node        name = "node"           // whose copy a place's column is
	rowOf       name = "row"            // of each place
	weight      name = "weight"         // of each place; in patterns 1, 0 for padding
	chunk       name = "chunk"          // of each place above the first level
	chunkWeight name = "chunk weight"   // 1, 0 for padding
	owner       name = "owner"          // the row of each chunk
	mirror      name = "mirror"         // the place in the matrix of each place of its transpose
	diagonal    name = "diagonal"       // 1 on the diagonal
	toOrder     name = "rows in order"  // the row by length of each position of the order
	fromOrder   name = "rows by length" // the position in the order of each row by length
)

// arrays are tensors by name, each an argument of the program that stays in memory: only what is needed is made.
type arrays struct {
	names   []name
	tensors []*tensors.Tensor
}

// add appends an array as a column, [n, 1]; one without elements, which no operation reads, is left out.
func add[T int32 | float32](a *arrays, n name, values []T) {
	if len(values) > 0 {
		a.names = append(a.names, n)
		a.tensors = append(a.tensors, tensors.FromFlatDataAndDimensions(values, len(values), 1))
	}
}

// bind are the nodes that hold the arrays.
func (a *arrays) bind(nodes []*Node) bound {
	if len(nodes) != len(a.tensors) {
		panic(fmt.Errorf("sparse matrix: %d nodes for %d arrays: pass what Tensors returns, in its order",
			len(nodes), len(a.tensors)))
	}
	b := bound{}
	for i, n := range a.names {
		b[n] = nodes[i]
	}
	return b
}

// bound are a layout's arrays in a graph or a loop body.
type bound map[name]*Node

// need is an array that an operation cannot do without.
func (b bound) need(n name, operation string) *Node {
	if b[n] == nil {
		panic(fmt.Errorf("sparse pattern: %s needs the array %q, which was not made: see PatternOptions.Uses",
			operation, n))
	}
	return b[n]
}
