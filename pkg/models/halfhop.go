package models

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/sparse"
)

// halfHop is Half-Hop (Azabou et al., "Half-Hop: A graph upsampling approach for slowing down message passing", ICML
// 2023). It chooses some of the nodes. For every edge j → i that leads into a chosen node i, it adds a new node s,
// called a slow node. The edges j → s, s → i and i → s replace the edge j → i. Let x_i be the features of node i. Then
// s has the features α x_j + (1 - α) x_i. In this package, x_i is the result of the encoder's linear layer before the
// activation. (Mixing the node features before the linear layer would give the same result, since α and 1 - α add up to
// 1.) Slow nodes take part in all message-passing layers. Their rows are removed after the last layer. Graph
// convolutions take the number of incoming edges as the degree of a node, as PyTorch Geometric does.
//
// Each node is chosen with the probability p, the setting "half-hop". The number α is the setting "half-hop-alpha". As
// in the authors' code, https://github.com/nerdslab/halfhop, the choice is made only once, so that training and
// evaluation see the same graph. The choice does not depend on the seed of the training.
type halfHop struct {
	// mix, [all, own], computes the features of all nodes from those of the graph's own; leave, [own, all], removes the
	// rows of slow nodes. into and back are the same, laid out.
	mix, leave *sparse.CSR
	into, back *sparse.Matrix
}

// newHalfHop adds slow nodes, numbered after the graph's own, to an adjacency without self loops.
func newHalfHop(a *sparse.CSR, p, alpha float64) (h *halfHop, augmented *sparse.CSR, err error) {
	h = &halfHop{}
	var mix, all edgeList
	for i := range a.Rows {
		mix.add(i, i, 1)
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
	if augmented, err = all.csr(slow, slow); err != nil {
		return nil, nil, err
	}
	if h.mix, err = mix.csr(slow, a.Rows); err != nil {
		return nil, nil, err
	}
	leave := edgeList{}
	for i := range a.Rows {
		leave.add(i, i, 1)
	}
	h.leave, err = leave.csr(a.Rows, slow)
	return h, augmented, err
}

// chosenNodes depends on p and the number of nodes alone.
func chosenNodes(nodes int, p float64) []bool {
	rng, chosen := rand.New(rand.NewPCG(uint64(nodes), 0x68616c66686f70)), make([]bool, nodes)
	for i := range chosen {
		chosen[i] = rng.Float64() < p
	}
	return chosen
}

// prepare lays out mix and leave, for the order of all nodes.
func (h *halfHop) prepare(order sparse.Order) (arrays []*tensors.Tensor, err error) {
	if h.into, err = sparse.NewRectangular(h.mix, order, nil); err != nil {
		return nil, err
	}
	if h.back, err = sparse.NewRectangular(h.leave, nil, order); err != nil {
		return nil, err
	}
	return slices.Concat(h.into.Tensors(), h.back.Tensors()), nil
}

type edgeList struct {
	target, source []int32
	weight         []float32
}

func (l *edgeList) add(target, source int, weight float64) {
	l.target, l.source = append(l.target, int32(target)), append(l.source, int32(source))
	l.weight = append(l.weight, float32(weight))
}

func (l *edgeList) csr(targets, sources int) (*sparse.CSR, error) {
	return sparse.FromEdges(targets, sources, l.target, l.source, l.weight)
}

// normalisedByTargets is D^-1/2 A D^-1/2 of directed edges, where D holds the numbers of incoming edges.
func normalisedByTargets(a *sparse.CSR) *sparse.CSR {
	s, degree := *a, make([]float64, a.Rows)
	for i := range degree {
		for _, w := range a.Weight[a.Start[i]:a.Start[i+1]] {
			degree[i] += float64(w)
		}
	}
	s.Weight = make([]float32, a.Entries())
	for i := range degree {
		for e := a.Start[i]; e < a.Start[i+1]; e++ {
			s.Weight[e] = float32(float64(a.Weight[e]) / math.Sqrt(degree[i]*degree[a.Column[e]]))
		}
	}
	return &s
}

// withMirrorImages is the symmetric matrix with an entry wherever a or its transpose has one. entry and image are 1 for
// those of its entries that a, or the transpose of a, has.
func withMirrorImages(a *sparse.CSR) (both *sparse.CSR, entry, image []float32, err error) {
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
	both, err = l.csr(a.Rows, a.Columns)
	return both, entry, image, err
}

// oneIf is 1 if the list, in ascending order, has the number, else 0.
func oneIf(list []int32, number int32) float32 {
	if _, ok := slices.BinarySearch(list, number); ok {
		return 1
	}
	return 0
}
