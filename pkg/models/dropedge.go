package models

import (
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/sparse"
)

// dropEdge is DropEdge (Rong et al., ICLR 2020): every training step leaves out each edge with a given probability, in
// both directions and in all layers; self loops stay. In evaluation, no edge is left out. (The authors' code leaves out
// a fixed number of directed edges instead.)
type dropEdge struct {
	pattern *sparse.Pattern
	edges   int
	// numbers holds, for each place of the pattern, the number of its edge, [places, 1]; all self loops have the last
	// number.
	numbers *tensors.Tensor
}

// newDropEdge numbers the edges of an adjacency with self loops, from which the pattern p was made.
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

// keep, [places, 1], is 1 for each place whose edge is not left out in this step, else 0.
func (d *dropEdge) keep(b *Builder, numbers *Node) *Node {
	if !b.Random() {
		return Ones(b.Graph, shapes.Make(dtypes.Float32, d.pattern.Places(), 1))
	}
	draws := b.Scope.RandomUniform(b.Graph, shapes.Make(dtypes.Float32, d.edges, 1))
	stay := ConvertDType(GreaterOrEqual(draws, ConstAs(draws, b.Config.DropEdge)), dtypes.Float32)
	loops := Ones(b.Graph, shapes.Make(dtypes.Float32, 1, 1))
	return Gather(Concatenate([]*Node{stay, loops}, 0), numbers)
}

// normalised are the weights of the adjacency without the edges left out, normalised by the degrees that remain,
// [places, 1]. arrays are the pattern's arrays. numbers holds [dropEdge]'s numbers.
func (d *dropEdge) normalised(b *Builder, arrays []*Node, numbers *Node) *Node {
	edges := d.pattern.Bare(arrays)
	stay := edges.Mask(d.keep(b, numbers))
	r := Rsqrt(edges.Sum(stay))
	return Mul(stay, Mul(edges.Targets(r), edges.Sources(r)))
}
