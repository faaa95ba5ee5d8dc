package models

import (
	"fmt"

	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

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

// filter returns Σ_k p_k(P) x diag(θ_k), [n, d], for features x, [n, d]. The p_k are the polynomials of the basis. The
// argument p is the matrix P, [n, n], which must be symmetric. The argument arrays lists the arrays of p, as values in
// the computation graph. Row k of the argument theta holds the coefficients θ_k. If theta is [K+1, d], each column of x
// has coefficients of its own. If theta is [K+1, 1], all columns of x have the same coefficients.
//
// The gradients are computed as follows. Let v be the cotangent of the result. As P is symmetric, the cotangent of x is
// the same filter, applied to v. The cotangent of θ_k is the sum of the rows of x ∘ p_k(P) v, where ∘ multiplies entry
// by entry. So the forward pass takes K products with P, and the backward pass takes K products, too. Of the forward
// pass, the backward pass needs only x.
//
// The K products are computed in a loop, whose body is compiled only once. (On a busy machine, compiling GPR-GNN for
// Tolokers took 8 s with the loop, and 44 s without it.)
func (b basis) filter(p sparse.Operator, x, theta *Node) *Node {
	theta = BroadcastToDims(theta, len(b)+1, x.Shape().Dimensions[1])
	in := filtered{theta: StopGradient(theta), basis: ConvertDType(Const(x.Graph(), b.rows()), x.DType()),
		x: StopGradient(x), p: p}
	y := b.run(in, in.x, false)
	return loop.Custom(y[0], []*Node{x, theta}, func(v *Node) []*Node { return b.run(in, v, true) })
}

// rows returns the basis as a slice of slices, a type that GoMLX's function Const accepts.
func (b basis) rows() (out [][]float64) {
	for _, row := range b {
		out = append(out, row[:])
	}
	return out
}

// filtered holds the arrays that the loop of [basis.run] reads but does not change. These are the arguments theta, x
// and arrays of [basis.filter], and the numbers of the basis.
type filtered struct {
	theta, basis, x *Node
	p               sparse.Operator
}

// run applies the filter of [basis.filter] to v, [n, d]: it returns Σ_k p_k(P) v diag(θ_k). If back is true, v is the
// cotangent of the filter's result, and run also returns the cotangent of θ, [K+1, d]. Row k of this cotangent is the
// sum of the rows of x ∘ p_k(P) v, where x is the input of the filter, and ∘ multiplies entry by entry.
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

// takeRow returns row k of the table, [rows, d], as an array of shape [1, d].
func takeRow(table, k *Node) *Node { return Gather(table, Reshape(k, 1, 1)) }

// putRow returns a copy of the table, [rows, d], in which row k is replaced by values, [d].
func putRow(table, values, k *Node) *Node {
	places := Iota(table.Graph(), shapes.Make(k.DType(), table.Shape().Dimensions...), 0)
	values = BroadcastToShape(Reshape(values, 1, values.Shape().Size()), table.Shape())
	return Where(Equal(places, loop.Like(k, places)), values, table)
}

// filterNet is the part that networks with polynomial filters share. A polynomial filter multiplies features by a
// polynomial of the matrix P = D^-1/2 A D^-1/2, [n, n]. A is the adjacency, and D holds the degrees. If selfLoops is
// true, A has self loops. If a node has no edges, its row of P is zero. The field matrix holds P.
type filterNet struct {
	selfLoops bool
	matrix    *sparse.Matrix
}

// Prepare lays out the matrix P = D^-1/2 A D^-1/2 of [filterNet].
func (f *filterNet) Prepare(g *graphs.Graph) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	a := sparse.Adjacency(g)
	if f.selfLoops {
		a = a.WithSelfLoops()
	}
	if f.matrix, err = sparse.NewMatrix(a.SymmetricNormalised(), nil); err != nil {
		return nil, nil, err
	}
	return f.matrix.Order(), f.matrix.Tensors(), nil
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

// filterDepth returns the degree K of the network's polynomial, as a text. Users see it as the depth of the network.
func filterDepth(c Config) string { return fmt.Sprint(c.Value("order")) }
