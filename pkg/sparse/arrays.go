package sparse

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// name identifies an array that is passed to the program.
type name string

// The arrays of a matrix or pattern. A place holds an entry or padding; see [sliced], also for chunks and levels.
const (
	column      name = "column"         // the column of each place
	columnTwin  name = "column, again"  // a copy of column, for a second product; see [BareEdges.Products]
	node        name = "node"           // the node that each place's column is a copy of
	rowOf       name = "row"            // the row of each place
	weight      name = "weight"         // the weight of each place; in patterns 1, or 0 for padding
	chunk       name = "chunk"          // for each place above the first level, the chunk whose sum it adds
	chunkWeight name = "chunk weight"   // for each place above the first level, 1, or 0 for padding
	owner       name = "owner"          // the row that each chunk is part of
	mirror      name = "mirror"         // for each place of the transpose, its place in the matrix
	diagonal    name = "diagonal"       // 1 at places on the diagonal, else 0
	toOrder     name = "rows in order"  // for each position in the model's order, the number of its row by length
	fromOrder   name = "rows by length" // for each row number by length, the row's position in the model's order
)

// arrays holds tensors and their names. Each tensor is an argument of the program and stays in memory, so that only
// tensors that are needed are made.
type arrays struct {
	names   []name
	tensors []*tensors.Tensor
}

// add appends an array as a column, [n, 1]. An empty array, which no operation reads, is left out.
func add[T int32 | float32](a *arrays, n name, values []T) {
	if len(values) > 0 {
		a.names = append(a.names, n)
		a.tensors = append(a.tensors, tensors.FromFlatDataAndDimensions(values, len(values), 1))
	}
}

// bind returns the nodes that hold the arrays, by the arrays' names.
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

// bound are the arrays as nodes in a graph or a loop body, by name.
type bound map[name]*Node

// need returns the array n, and panics if it was not made. operation names the caller in the error.
func (b bound) need(n name, operation string) *Node {
	if b[n] == nil {
		panic(fmt.Errorf("sparse pattern: %s needs the array %q, which was not made: see PatternOptions.Uses",
			operation, n))
	}
	return b[n]
}
