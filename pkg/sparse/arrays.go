package sparse

import "github.com/gomlx/gomlx/core/tensors"

// name identifies an array that is passed to the program.
type name string

// These are the names of the arrays of a matrix or pattern. The comment at each name says what its array holds. The
// package's documentation explains places, chunks, copies and levels.
const (
	column      name = "column"         // for each place, the column of its entry
	columnTwin  name = "column, again"  // the same numbers as column, for a second product; see [BareEdges.Products]
	node        name = "node"           // for each place, the node of which the column is a copy
	rowOf       name = "row"            // for each place, its row
	weight      name = "weight"         // for each place, the weight; in patterns, 1 for entries and 0 for padding
	chunk       name = "chunk"          // for each place of the second and later levels, the chunk whose sum it holds
	chunkWeight name = "chunk weight"   // for each place of the second and later levels, 1 for a chunk, 0 for padding
	owner       name = "owner"          // for each chunk of the first level, its row
	mirror      name = "mirror"         // for each place of the transpose, the pattern's place with the same entry
	diagonal    name = "diagonal"       // for each place, 1 if its entry is on the diagonal, else 0
	toOrder     name = "rows in order"  // for each row in the model's order, its position in the order by length
	fromOrder   name = "rows by length" // for each row in the order by length, its position in the model's order
)

// arrays holds tensors and their names. Each tensor is an argument of the program and stays in memory. Therefore only
// the tensors that are needed are made.
type arrays struct {
	names   []name
	tensors []*tensors.Tensor
}

// add appends an array to a, under the name n. The array becomes a tensor of shape [number of values, 1]. An empty
// array is left out, since no operation reads it.
func add[T int32 | float32](a *arrays, n name, values []T) {
	if len(values) > 0 {
		a.names = append(a.names, n)
		a.tensors = append(a.tensors, tensors.FromFlatDataAndDimensions(values, len(values), 1))
	}
}
