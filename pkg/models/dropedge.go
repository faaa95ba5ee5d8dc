package models

import (
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/sparse"
)

// dropEdge is DropEdge (Rong et al., ICLR 2020): in every training step, it leaves out each edge with a given
// probability. An edge is left out in both directions and in all layers. Self loops stay. In evaluation, all edges
// stay. (The authors' code leaves out a fixed number of directed edges instead.)
type dropEdge struct {
	pattern *sparse.Pattern
	edges   int // number of edges, without self loops
	// numbers, [places, 1], holds for each place of the pattern the index of the edge at this place. Edges that are not
	// self loops have the indices from 0 to edges-1, and both directions of an edge have the same index. All self loops
	// have the index edges.
	numbers *tensors.Tensor
}

// newDropEdge numbers the edges of the adjacency a, which has self loops. p is the pattern of a.
func newDropEdge(a *sparse.CSR, p *sparse.Pattern) *dropEdge {
	numbers, edges := make([]int32, a.Entries()), 0
	for i := range a.Rows {
		for e := a.Start[i]; e < a.Start[i+1]; e++ {
			if j := int(a.Column[e]); j > i {
				back, _ := slices.BinarySearch(a.Column[a.Start[j]:a.Start[j+1]], int32(i))
				numbers[e], numbers[a.Start[j]+back] = int32(edges), int32(edges)
				edges++
			}
		}
	}
	for i := range a.Rows {
		at, _ := slices.BinarySearch(a.Column[a.Start[i]:a.Start[i+1]], int32(i))
		numbers[a.Start[i]+at] = int32(edges)
	}
	places := sparse.Spread(p, numbers, 1)
	return &dropEdge{p, edges, tensors.FromFlatDataAndDimensions(places, len(places), 1)}
}

// keep returns an array, [places, 1]. For each place, it is 1 if the edge at this place stays in this training step,
// and 0 if the edge is left out. (For padding, the number has no meaning.) The argument numbers is the field numbers of
// d, as a value in the computation graph.
func (d *dropEdge) keep(b *Builder) *Node {
	if !b.Random() {
		return Ones(b.Graph, shapes.Make(dtypes.Float32, d.pattern.Places(), 1))
	}
	draws := b.Scope.RandomUniform(b.Graph, shapes.Make(dtypes.Float32, d.edges, 1))
	stay := ConvertDType(GreaterOrEqual(draws, ConstAs(draws, b.Config.DropEdge)), dtypes.Float32)
	loops := Ones(b.Graph, shapes.Make(dtypes.Float32, 1, 1))
	return Gather(Concatenate([]*Node{stay, loops}, 0), b.Array(d.numbers))
}

// normalised is the matrix with 1/sqrt(d_i d_j) for each edge that stays in this training step, where d_i is the number
// of node i's edges that stay, with the self loop.
func (d *dropEdge) normalised(b *Builder) sparse.Operator {
	edges := b.Edges(d.pattern).Bare()
	stay := edges.Mask(d.keep(b))
	r := Rsqrt(edges.Sum(stay))
	return edges.Operator(Mul(stay, Mul(edges.Targets(r), edges.Sources(r))))
}
