package models

import (
	"math/rand/v2"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/sparse"
)

// dropEdge is DropEdge (Rong et al., ICLR 2020): every training step leaves out each edge with a given probability, in
// both directions and in all layers. Self loops stay. (The authors' code leaves out a fixed number of directed edges.)
type dropEdge struct {
	pattern *sparse.Pattern
	edges   int // without self loops
	// numbers, [places, 1], has the number of the edge at each place, the same for both directions; self loops have the
	// number edges.
	numbers *tensors.Tensor
}

// newDropEdge numbers the edges of an adjacency with self loops, whose pattern is p.
func newDropEdge(a *sparse.CSR, p *sparse.Pattern, arrays *Arrays) *dropEdge {
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
	return &dropEdge{p, edges, arrays.Add(tensors.FromFlatDataAndDimensions(places, len(places), 1))}
}

// keep, [places, 1], is 1 for edges that stay in this training step, 0 for others, and any number for padding.
func (d *dropEdge) keep(b *Builder) *Node {
	if !b.Random() {
		return Ones(b.Graph, shapes.Make(dtypes.Float32, d.pattern.Places(), 1))
	}
	draws := b.Scope.RandomUniform(b.Graph, shapes.Make(dtypes.Float32, d.edges, 1))
	stay := ConvertDType(GreaterOrEqual(draws, ConstAs(draws, b.Config.DropEdge)), dtypes.Float32)
	loops := Ones(b.Graph, shapes.Make(dtypes.Float32, 1, 1))
	return Gather(Concatenate([]*Node{stay, loops}, 0), b.Array(d.numbers))
}

// normalised has 1/sqrt(d_i d_j) for each edge that stays; d_i counts those of i, with the self loop.
func (d *dropEdge) normalised(b *Builder) sparse.Operator {
	edges := b.Edges(d.pattern).Bare()
	stay := edges.Mask(d.keep(b))
	r := Rsqrt(edges.Sum(stay))
	return edges.Operator(Mul(stay, Mul(edges.Targets(r), edges.Sources(r))))
}

// halfHop is Half-Hop (Azabou et al., "Half-Hop: A graph upsampling approach for slowing down message passing", ICML
// 2023). In place of every edge j → i into a chosen node i, it adds a slow node s with the edges j → s, s → i and i →
// s, and the features α x_j + (1 - α) x_i. x is the result of the encoder's linear layer before the activation. (Mixing
// node features would give the same.) The rows of slow nodes are removed after the last layer. Graph convolutions take
// the number of incoming edges as the degree, as PyTorch Geometric does.
//
// A node is chosen with the probability "half-hop", whatever the seed of the training; α is "half-hop-alpha". As in the
// authors' code, https://github.com/nerdslab/halfhop, training and evaluation see the same graph.
type halfHop struct {
	// mix, [all, own], computes the features of all nodes from those of the graph's own; leave, [own, all], removes the
	// rows of slow nodes. into and back are the same, laid out.
	mix, leave *sparse.CSR
	into, back *sparse.Matrix
}

// newHalfHop adds slow nodes, numbered after the graph's own, to an adjacency without self loops.
func newHalfHop(a *sparse.CSR, p, alpha float64) (h *halfHop, augmented *sparse.CSR) {
	var mix, all, leave edgeList
	for i := range a.Rows {
		mix.add(i, i, 1)
		leave.add(i, i, 1)
	}
	slow, chosen := a.Rows, chosenNodes(a.Rows, p)
	for i := range a.Rows {
		for _, j := range a.Column[a.Start[i]:a.Start[i+1]] {
			if !chosen[i] {
				all.add(i, int(j), 1)
				continue
			}
			all.add(slow, int(j), 1)
			all.add(slow, i, 1)
			all.add(i, slow, 1)
			mix.add(slow, int(j), alpha)
			mix.add(slow, i, 1-alpha)
			slow++
		}
	}
	return &halfHop{mix: mix.csr(slow, a.Rows), leave: leave.csr(a.Rows, slow)}, all.csr(slow, slow)
}

// chosenNodes depends on p and the number of nodes alone.
func chosenNodes(nodes int, p float64) []bool {
	rng, chosen := rand.New(rand.NewPCG(uint64(nodes), 0x68616c66686f70)), make([]bool, nodes)
	for i := range chosen {
		chosen[i] = rng.Float64() < p
	}
	return chosen
}

// prepare lays out mix and leave; a has the order of all nodes.
func (h *halfHop) prepare(a *Arrays) {
	h.into, h.back = a.Rectangular(h.mix, a.Order, nil), a.Rectangular(h.leave, nil, a.Order)
}

type edgeList struct {
	target, source []int32
	weight         []float32
}

func (l *edgeList) add(target, source int, weight float64) {
	l.target, l.source = append(l.target, int32(target)), append(l.source, int32(source))
	l.weight = append(l.weight, float32(weight))
}

func (l *edgeList) csr(targets, sources int) *sparse.CSR {
	return must(sparse.FromEdges(targets, sources, l.target, l.source, l.weight))
}

// withMirrorImages is the symmetric matrix with an entry wherever a or its transpose has one. entry and image are 1 for
// those of its entries that a, or the transpose of a, has.
func withMirrorImages(a *sparse.CSR) (both *sparse.CSR, entry, image []float32) {
	t := a.Transpose()
	var l edgeList
	for i := range a.Rows {
		one, two := a.Column[a.Start[i]:a.Start[i+1]], t.Column[t.Start[i]:t.Start[i+1]]
		all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(one, two))))
		for _, j := range all {
			l.add(i, int(j), 1)
			entry, image = append(entry, oneIf(one, j)), append(image, oneIf(two, j))
		}
	}
	return l.csr(a.Rows, a.Columns), entry, image
}

// oneIf is 1 if the list, in ascending order, has the number, else 0.
func oneIf(list []int32, number int32) float32 {
	if _, ok := slices.BinarySearch(list, number); ok {
		return 1
	}
	return 0
}
