package sparse

import (
	"fmt"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// Rectangular is a sparse matrix X, [n, m], that dense ones are multiplied by: node features, of which most are zero. Both X and X^T
// are laid out as a [Matrix] is, which puts their rows into an order of their own; products bring them back.
type Rectangular struct {
	forward, backward *Matrix
	tensors           []*tensors.Tensor
}

// NewRectangular lays out the entries of dense rows, [n, columns], that are not zero.
func NewRectangular(rows []float32, columns int) (*Rectangular, error) {
	if columns <= 0 || len(rows)%columns != 0 {
		return nil, fmt.Errorf("sparse matrix: %d numbers are no rows of %d", len(rows), columns)
	}
	n := len(rows) / columns
	var index, mirror = make([][]int32, n), make([][]int32, columns)
	var weight, mirrored = make([][]float32, n), make([][]float32, columns)
	for k, v := range rows {
		if i, j := k/columns, k%columns; v != 0 {
			index[i], weight[i] = append(index[i], int32(j)), append(weight[i], v)
			mirror[j], mirrored[j] = append(mirror[j], int32(i)), append(mirrored[j], v)
		}
	}
	forward, err := restoring(index, weight, columns)
	if err != nil {
		return nil, err
	}
	backward, err := restoring(mirror, mirrored, n)
	if err != nil {
		return nil, err
	}
	return &Rectangular{forward, backward, slices.Concat(forward.tensors, backward.tensors)}, nil
}

// restoring lays out rows of entries in so many columns; the last of its arrays are the places of the rows, for restored.
func restoring(columns [][]int32, weights [][]float32, width int) (*Matrix, error) {
	m, err := ordered(columns, weights, width, once)
	if err != nil {
		return nil, err
	}
	m.lay(columns, weights, func(j int32) int32 { return j })
	m.tensors = append(m.tensors, tensors.FromFlatDataAndDimensions(m.order.positions(), m.n, 1))
	return m, nil
}

// Tensors are the arrays, to be passed to the graph that uses the matrix and handed to its methods there.
func (r *Rectangular) Tensors() []*tensors.Tensor { return r.tensors }

// Product is X w, [m, d] to [n, d], and Pull X^T v, [n, d] to [m, d]; neither has a gradient.
func (r *Rectangular) Product(w *Node, nodes []*Node) *Node {
	return r.forward.restored(w, nodes[:len(r.forward.tensors)])
}

// Pull is X^T v, the cotangent of w for the cotangent v of X w.
func (r *Rectangular) Pull(v *Node, nodes []*Node) *Node {
	return r.backward.restored(v, nodes[len(r.forward.tensors):])
}

// restored is the product with the rows in the order in which they were given.
func (m *Matrix) restored(x *Node, nodes []*Node) *Node {
	return Gather(m.On(nodes).Product(x), nodes[len(nodes)-1])
}
