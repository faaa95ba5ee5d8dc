package models

import (
	"fmt"

	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// basis describes polynomials p_0, p_1, …, p_K of a matrix P by a recurrence. It begins with p_0 = 1. Each further
// polynomial is computed from the two before it, by one product with P:
//
//	p_{k+1}(P) = (a_k P + b_k) p_k(P) - c_k p_{k-1}(P)
//
// Row k of basis holds the numbers a_k, b_k and c_k, for k = 0 … K-1. There is no p_{-1}, so that c_0 is 0.
type basis [][3]float64

// monomials is the [basis] of the powers P^0 … P^order of a matrix P.
func monomials(order int) basis {
	out := make(basis, order)
	for k := range out {
		out[k] = [3]float64{1, 0, 0}
	}
	return out
}

// chebyshev is the [basis] of the Chebyshev polynomials of the first kind, T_0 … T_order.
func chebyshev(order int) basis {
	out := make(basis, order)
	for k := range out {
		out[k] = [3]float64{2, 0, 1}
	}
	out[0] = [3]float64{1, 0, 0}
	return out
}

// filter is Σ_k p_k(P) x diag(θ_k), [n, d], for x, [n, d], and a symmetric matrix P, [n, n]. theta, [K+1, d] or [K+1, 1],
// has the θ_k as rows.
//
// If v is the cotangent of the result, that of x is the same filter of v, and that of θ_k the sum of the rows of
// x ∘ p_k(P) v. So both passes take K products with P, in a loop that is compiled once (GPR-GNN on Tolokers: 8 s, and 44 s
// without the loop, on a busy machine).
func (b basis) filter(p sparse.Operator, x, theta *Node) *Node {
	var rows [][]float64 // the basis in a type that Const accepts
	for _, row := range b {
		rows = append(rows, row[:])
	}
	theta = BroadcastToDims(theta, len(b)+1, x.Shape().Dimensions[1])
	in := filtered{theta: StopGradient(theta), basis: ConvertDType(Const(x.Graph(), rows), x.DType()),
		x: StopGradient(x), p: p}
	y := b.run(in, in.x, false)
	return loop.Custom(y[0], []*Node{x, theta}, func(v *Node) []*Node { return b.run(in, v, true) })
}

// filtered is what the loop of [basis.run] reads.
type filtered struct {
	theta, basis, x *Node
	p               sparse.Operator
}

// run is the filter of v, [n, d]. With back, v is the cotangent of the filter's result, and run also returns that of θ,
// [K+1, d].
func (b basis) run(in filtered, v *Node, back bool) []*Node {
	type state struct {
		now, before, sum *Node
		dots             []*Node // the cotangents of θ if back is set, else none
	}
	s := state{now: v, before: loop.Zeros(v), sum: Mul(v, Slice(in.theta, AxisElem(0)))}
	if back {
		s.dots = []*Node{putRow(loop.Zeros(in.theta), loop.Sum(Mul(v, in.x)), loop.Int(v.Graph(), 0))}
	}
	s = loop.Repeat(loop.Int(v.Graph(), len(b)), s, in, func(k *Node, s state, in filtered) state {
		abc := Reshape(takeRow(in.basis, k), 3)
		at := func(i int) *Node { return Reshape(Slice(abc, AxisElem(i))) }
		next := Add(loop.Scale(in.p.Product(s.now), at(0)), loop.Scale(s.now, at(1)))
		next = Sub(next, loop.Scale(s.before, at(2)))
		k = Add(k, loop.Int(k.Graph(), 1))
		to := state{now: next, before: s.now, sum: Add(s.sum, Mul(next, takeRow(in.theta, k)))}
		if back {
			to.dots = []*Node{putRow(s.dots[0], loop.Sum(Mul(next, in.x)), k)}
		}
		return to
	})
	return append([]*Node{s.sum}, s.dots...)
}

// takeRow is row k of the table, [rows, d], as [1, d].
func takeRow(table, k *Node) *Node { return Gather(table, Reshape(k, 1, 1)) }

// putRow replaces row k of a copy of the table, [rows, d], by values, [d].
func putRow(table, values, k *Node) *Node {
	places := Iota(table.Graph(), shapes.Make(k.DType(), table.Shape().Dimensions...), 0)
	values = BroadcastToShape(Reshape(values, 1, values.Shape().Size()), table.Shape())
	return Where(Equal(places, loop.Like(k, places)), values, table)
}

// filterNet is what networks with polynomial filters share: P = D^-1/2 A D^-1/2, [n, n], of the adjacency A, with self
// loops if these are set. Rows of nodes without edges are zero.
type filterNet struct {
	selfLoops bool
	matrix    *sparse.Matrix
}

func (f *filterNet) Prepare(g *graphs.Graph, a *Arrays) {
	adjacency := sparse.Adjacency(g)
	if f.selfLoops {
		adjacency = adjacency.WithSelfLoops()
	}
	f.matrix = a.Matrix(adjacency.SymmetricNormalised())
}

// polynomial, teleport and dropRate are groups of settings that several networks have.
type polynomial struct {
	Order int `help:"degree K of the polynomial of the adjacency" least:"1" most:"1000"`
}

type teleport struct {
	Alpha float64 `help:"probability of returning to its start in each step of a random walk" least:"1e-3" most:"1"`
}

type dropRate struct {
	DropRate float64 `name:"dprate" help:"dropout of what is propagated" most:"0.99" absent:"0"`
}

// filterDepth is K.
func filterDepth(c Config) string { return fmt.Sprint(c.Value("order")) }
