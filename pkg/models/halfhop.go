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
	// In the shapes of the matrices, "nodes" is the number of the graph's own nodes, and "all" is the number of all
	// nodes, with the slow nodes. The matrix mix, [all, nodes], computes the features of all nodes from the features of
	// the graph's own nodes. The matrix leave, [nodes, all], removes the rows of slow nodes. The field into is mix,
	// laid out for products. The field back is leave, laid out for products.
	mix, leave *sparse.CSR
	into, back *sparse.Matrix
}

// newHalfHop adds slow nodes to a graph. The argument a is the adjacency of the graph, without self loops. The
// arguments p and alpha are p and α of [halfHop]. The result augmented is the adjacency with slow nodes. Slow nodes are
// numbered after the graph's own nodes.
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

// chosenNodes chooses the nodes whose incoming edges get slow nodes (see [halfHop]). Each node is chosen with the
// probability p. The choice depends only on p and the number of nodes.
func chosenNodes(nodes int, p float64) []bool {
	rng, chosen := rand.New(rand.NewPCG(uint64(nodes), 0x68616c66686f70)), make([]bool, nodes)
	for i := range chosen {
		chosen[i] = rng.Float64() < p
	}
	return chosen
}

// prepare lays out the matrices that [chain.spread] and [chain.collect] multiply by. The argument order is the order of
// all nodes, slow nodes included.
func (h *halfHop) prepare(order sparse.Order) (arrays []*tensors.Tensor, err error) {
	if h.into, err = sparse.NewRectangular(h.mix, order, nil); err != nil {
		return nil, err
	}
	if h.back, err = sparse.NewRectangular(h.leave, nil, order); err != nil {
		return nil, err
	}
	return slices.Concat(h.into.Tensors(), h.back.Tensors()), nil
}

// edgeList is a list of edges with weights.
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

// normalisedByTargets returns D^-1/2 A D^-1/2 for the matrix A = a of directed edges. The diagonal matrix D holds the
// row sums of A. These are the numbers of incoming edges of the nodes.
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

// withMirrorImages makes a symmetric matrix from the square matrix a. The result both is this symmetric matrix. It has
// an entry 1 at each position at which a or the transpose of a has an entry. The results entry and image are lists,
// with one number for each entry of the symmetric matrix. The number in the list entry is 1 if a has an entry at the
// same position, else 0. The number in the list image is 1 if the transpose of a has an entry there, else 0.
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

// oneIf returns 1 if the list contains the number, and 0 otherwise. The list is in ascending order.
func oneIf(list []int32, number int32) float32 {
	if _, ok := slices.BinarySearch(list, number); ok {
		return 1
	}
	return 0
}
