package models

import (
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/sparse"
)

// dropEdge is DropEdge (Rong et al., ICLR 2020): every training step leaves out each edge, in both directions, with a
// probability, the same edges in all layers; self loops stay. Where nothing is drawn, all edges are there. (The
// authors' code leaves out a fixed number of directions.)
type dropEdge struct {
	pattern *sparse.Pattern
	edges   int
	// numbers are those of each place's edge, [places, 1]; all self loops have the last one.
	numbers *tensors.Tensor
}

// newDropEdge numbers the edges of an adjacency with self loops that a pattern was made of.
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

// keep is 1 for each place whose edge stays, else 0: [places, 1].
func (d *dropEdge) keep(b *Builder, numbers *Node) *Node {
	if !b.Random() {
		return Ones(b.Graph, shapes.Make(dtypes.Float32, d.pattern.Places(), 1))
	}
	draws := b.Scope.RandomUniform(b.Graph, shapes.Make(dtypes.Float32, d.edges, 1))
	stay := ConvertDType(GreaterOrEqual(draws, ConstAs(draws, b.Config.DropEdge)), dtypes.Float32)
	loops := Ones(b.Graph, shapes.Make(dtypes.Float32, 1, 1))
	return Gather(Concatenate([]*Node{stay, loops}, 0), numbers)
}

// normalised are the weights of the edges that stay, symmetrically normalised anew, [places, 1], for the nodes of the
// pattern's arrays and of numbers.
func (d *dropEdge) normalised(b *Builder, arrays []*Node, numbers *Node) *Node {
	edges := d.pattern.Bare(arrays)
	stay := edges.Mask(d.keep(b, numbers))
	r := Rsqrt(edges.Sum(stay))
	return Mul(stay, Mul(edges.Targets(r), edges.Sources(r)))
}
