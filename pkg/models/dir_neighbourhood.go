package models

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// Prepare implements [Network]. If the setting "conv" is "gcn", it makes the sparse matrix S of [dirGNN]. If it is
// "sage", Prepare makes the sparse matrix A. For sage, it also makes arrays of the numbers by which sums over
// neighbours are multiplied to get means: one array for out-neighbours and, in a directed graph, one for in-neighbours.
// If the node features are dense, Prepare also computes their sums (for gcn) or means (for sage) over neighbours, since
// these are the same in all training steps.
func (d *dirGNN) Prepare(g *graphs.Graph) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	a := sparse.Out(g)
	if d.Conv == "gcn" {
		a = a.SymmetricNormalised()
	}
	if d.matrix, err = sparse.NewMatrix(a, nil); err != nil {
		return nil, nil, err
	}
	order, arrays = d.matrix.Order(), append(arrays, d.matrix.Tensors()...)
	add := func(values []float32, width int) *tensors.Tensor {
		values = sparse.Permute(order, values, width)
		t := tensors.FromFlatDataAndDimensions(values, g.NumNodes, width)
		arrays = append(arrays, t)
		return t
	}
	_, few := Sparse(g)
	d.share, d.features = make([]*tensors.Tensor, 2), make([]*tensors.Tensor, 2)
	for k, a := range []*sparse.CSR{a, a.Transpose()}[:d.directions()] {
		if d.Conv == "sage" {
			shares := make([]float32, g.NumNodes)
			for i, degree := range a.Degrees() {
				shares[i] = 1 / float32(max(1, degree))
			}
			d.share[k] = add(shares, 1)
			a = a.RowNormalised()
		}
		if !few {
			d.features[k] = add(a.Product(g.Features, g.NumFeatures), g.NumFeatures)
		}
	}
	return order, arrays, nil
}

// directions returns the number of kinds of neighbours. It is 2 for a directed graph, where a node has out-neighbours
// and in-neighbours. It is 1 for an undirected graph, where the out-neighbours and the in-neighbours are the same
// nodes.
func (d *dirGNN) directions() int {
	if d.matrix.Symmetric() {
		return 1
	}
	return 2
}

// neighbourhood aggregates the messages of one direction: those from out-neighbours, or those from in-neighbours.
type neighbourhood struct {
	sum      func(x *Node) *Node // S x (gcn) or A x (sage); for in-neighbours S^T x or A^T x
	share    *Node               // 1/degree, [n, 1]; nil for gcn, whose S is already normalised
	features *Node               // sums or means of the node features, [n, features]; nil if they are sparse
}

// neighbourhoods returns the [neighbourhood] of out-neighbours and, unless the graph is undirected, the one of
// in-neighbours.
func (d *dirGNN) neighbourhoods(b *Builder) []neighbourhood {
	matrix := b.Matrix(d.matrix)
	all := []neighbourhood{{sum: matrix.Product}, {sum: matrix.Transposed().Product}}[:d.directions()]
	for i := range all {
		if d.share[i] != nil {
			all[i].share = b.Array(d.share[i])
		}
		if d.features[i] != nil {
			all[i].features = b.Array(d.features[i])
		}
	}
	return all
}

// aggregate multiplies x by w^T, and aggregates the rows of the product over each node's neighbours, which are all
// out-neighbours or all in-neighbours (see [neighbourhood]). For gcn, it computes sums with the weights S, and for
// sage, means. The result is [n, width]. If x is nil, aggregate takes the node features in place of x.
func (n neighbourhood) aggregate(b *Builder, x, w *Node) *Node {
	if x == nil && n.features != nil {
		return b.mapped(n.features, w)
	}
	y := n.sum(b.mapped(x, w))
	if n.share != nil {
		y = Mul(y, n.share)
	}
	return y
}
