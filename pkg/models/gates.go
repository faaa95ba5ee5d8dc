package models

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// edgeGates computes gates α_ij = σ(s_ij) for the edges of a graph, where σ is the logistic function. The score s_ij of
// an edge is the sum of two terms, one for each of its nodes: s_ij = target_i + source_j (see [edgeGate]). An array of
// scores or gates has the shape [places, 1].
//
// The gated sums over neighbours, y_i = Σ_j α_ij x_j, have a derivative that is cheap to compute. For example, let v_i
// be the cotangent of y_i, and let α'_ij be the derivative of α_ij with respect to s_ij. Then target_i has the
// cotangent v_i · (Σ_j α'_ij x_j). This is one inner product for each node, and none for each edge.
//
// The field sum is the adjacency, for sums over all neighbours without gates. The field degree, [n, 1], holds each
// node's number of neighbours.
type edgeGates struct {
	edges  sparse.BareEdges
	sum    sparse.Operator
	degree *Node
}

// edgeGate holds the two terms of the scores s_ij = target_i + source_j, [n, 1] each.
type edgeGate struct{ target, source *Node }

// turned returns the gate of the reversed edges, which has the scores s_ji in place of s_ij.
func (g edgeGate) turned() edgeGate { return edgeGate{g.source, g.target} }

// fixed returns the same gate, but no gradients flow through the result.
func (g edgeGate) fixed() edgeGate { return edgeGate{StopGradient(g.target), StopGradient(g.source)} }

func (g edgeGate) nodes() []*Node { return []*Node{g.target, g.source} }

// scores returns the scores s_ij of [edgeGates] for all edges, [places, 1].
func (e edgeGates) scores(g edgeGate) *Node {
	return Add(e.edges.Targets(g.target), e.edges.Sources(g.source))
}

// open returns the gates α_ij of [edgeGates] for all edges, [places, 1]. The gates of padding are 0.
func (e edgeGates) open(g edgeGate) *Node { return e.edges.Mask(Sigmoid(e.scores(g))) }

// gated returns Σ_j α_ij x_j, [n, d]: for each node i, the sum over its neighbours j, weighted by the gates. The
// derivative is written by hand. It consists of sums over neighbours, too.
func (e edgeGates) gated(g edgeGate, x *Node) *Node {
	// sums returns Σ_j α_ij x_j and Σ_j α'_ij x_j, where α' = α (1 - α) is the derivative of the logistic function.
	sums := func(g edgeGate, x *Node) []*Node {
		alpha := e.open(g)
		return e.edges.Products([]*Node{x, x}, []*Node{alpha, Mul(alpha, OneMinus(alpha))})
	}
	fixed, values := g.fixed(), StopGradient(x)
	y := sums(fixed, values)
	return loop.Custom(y[0], append(g.nodes(), x), func(v *Node) []*Node {
		back := sums(fixed.turned(), v)
		return []*Node{sumOfColumns(Mul(v, y[1])), sumOfColumns(Mul(values, back[1])), back[0]}
	})
}

// mean divides the sums over neighbours, [n, d], by each node's number of neighbours.
func (e edgeGates) mean(sums *Node) *Node { return Div(sums, MaxScalar(e.degree, 1)) }

// teacher returns a function that computes the loss of a gate. This loss trains the gate to tell whether an edge joins
// two nodes of one class. It is the mean of a binary cross-entropy (BCE) over all edges (i, j) between training nodes.
// The true value t_ij is 1 if the nodes i and j are of one class, else 0. The argument known holds the labels of the
// training nodes as one-hot rows, and zero rows for all other nodes:
//
//	BCE(σ(s_ij), t_ij) = softplus(s_ij) - t_ij s_ij,  t_ij = known_i · known_j.
//
// Let t_i = Σ_j t_ij be the sum over the neighbours j of node i. The sum of t_ij s_ij over all edges is computed as a
// sum over nodes, Σ_i t_i (target_i + source_i). The two sums are equal, since t_ij = t_ji and s_ij = target_i +
// source_j.
func (e edgeGates) teacher(known *Node) func(g edgeGate) *Node {
	is := sumOfColumns(known)
	near := e.sum.Product(known)
	equal := sumOfColumns(Mul(known, near))
	edges := MaxScalar(ReduceAllSum(Mul(is, sumOfColumns(near))), 1)
	return func(g edgeGate) *Node {
		of := ReduceAllSum(Mul(equal, Add(g.target, g.source)))
		return Div(Sub(e.softplus(g, is), of), edges)
	}
}

// softplus returns the sum of k_i k_j softplus(s_ij) over all edges, a scalar. The s_ij are the scores of [edgeGates].
// k, [n, 1], is 1 for training nodes, else 0.
func (e edgeGates) softplus(g edgeGate, k *Node) *Node {
	fixed, source := g.fixed(), e.edges.Sources(k)
	s := e.scores(fixed)
	softplus := layers.ActivationSoftplus.Of(s)
	y := ReduceAllSum(Mul(e.edges.Mask(softplus), Mul(e.edges.Targets(k), source)))
	return loop.Custom(y, g.nodes(), func(v *Node) []*Node {
		pull := func(g edgeGate) *Node { // v k_i Σ_j α_ij k_j, the cotangent of g.target
			return Mul(v, Mul(k, e.edges.Sum(Mul(e.open(g), source))))
		}
		return []*Node{pull(fixed), pull(fixed.turned())}
	})
}

// sumOfColumns adds up the columns of x, [n, d]. The result is [n, 1].
func sumOfColumns(x *Node) *Node { return ReduceAndKeep(x, ReduceSum, 1) }
