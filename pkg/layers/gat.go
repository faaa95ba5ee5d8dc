package layers

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// slope of LeakyReLU for negative scores (Veličković et al., ICLR 2018).
const slope = 0.2

// GAT is the residual branch of a graph attention layer with K heads averaged (Veličković et al., ICLR 2018; paper section
// 3.3 and appendix on multi-head attention):
//
//	h(X) = ReLU(1/K Σ_k A^(k)(X) X W^(k) + b),  X: [n, d], W^(k): [d, d], b: [d],
//	A^(k)_ij = softmax_j(LeakyReLU(s_j + t_i)) over i's neighbours and i itself,  s = X W^(k) a_src, t = X W^(k) a_dst.
//
// At fixed attention, Lip(h) is at most the mean of the heads' Frobenius norms, as A^(k) is right-stochastic; the dependence
// of the attention on X is not bounded by that, so that the residuals of an inverse must be watched.
//
// It implements solve.Block. Its weights are all that X is multiplied by, side by side, [d, K d + 2K]: the heads' W^(k)/K, the
// vectors W^(k) a_src, the vectors W^(k) a_dst; then b; and the tensors of the edges. With Y = X [W/K | a_src | a_dst], a layer
// is one dense product and an aggregation of Y's rows over neighbours, and so is its derivative.
type GAT struct{ Edges *sparse.Edges }

// Trainable is 2: the matrix and b.
func (GAT) Trainable() int { return 2 }

// attention is what the attention of a layer is made of: Y = X [W/K | a_src | a_dst]; in it the heads' values X W^(k)/K, [n, d]
// each, and the scores, [n, K]; the largest score of every row; exp(score - top) of every entry, [entries, K]; and its sums
// over rows.
type attention struct {
	o                     sparse.EdgeOperator
	y                     *Node
	values                []*Node
	s, t, top, exp, total *Node
}

func leaky(x *Node) *Node { return Max(x, Mul(x, loop.Like(loop.Float(x, slope), x))) }

// leakySlope is the derivative of leaky.
func leakySlope(x *Node) *Node {
	return loop.Select2(GreaterThan(x, loop.Zeros(x)), loop.Float(x, 1), loop.Float(x, slope))
}

func (c GAT) attend(x *Node, w []*Node) attention {
	d := x.Shape().Dimensions[1]
	y := Dot(x, w[0]).Product()
	heads := y.Shape().Dimensions[1] / (d + 2)
	a := attention{o: c.Edges.On(w[2:]), y: y, values: columns(y, heads, d), s: Slice(y, AxisRange(), AxisRange(heads*d, heads*d+heads)), t: Slice(y, AxisRange(), AxisRange(heads*d+heads))}
	s := a.o.Columns(a.s)
	// LeakyReLU grows with its argument: the largest score is that of the largest s_j.
	a.top = leaky(Add(a.o.MaxRows(s), a.t))
	a.exp = a.o.Real(Exp(Sub(leaky(Add(s, a.o.Rows(a.t))), a.o.Rows(a.top))))
	// The zero in the totals is a second use of the largest scores: XLA would compute those anew for every entry of a row if nothing
	// but the entries needed them.
	a.total = Add(a.o.SumRows(a.exp), Min(Abs(a.top), loop.Zeros(a.top)))
	return a
}

// columns cuts x into count blocks of width columns.
func columns(x *Node, count, width int) []*Node {
	blocks := make([]*Node, count)
	for k := range blocks {
		blocks[k] = Slice(x, AxisRange(), AxisRange(k*width, (k+1)*width))
	}
	return blocks
}

// over divides the rows of every block by its column of total, [n, K].
func over(blocks []*Node, total *Node) []*Node {
	out := make([]*Node, len(blocks))
	for k, t := range columns(total, len(blocks), 1) {
		out[k] = Div(blocks[k], BroadcastToShape(t, blocks[k].Shape()))
	}
	return out
}

// sum adds the heads.
func sum(heads []*Node) *Node {
	u := heads[0]
	for _, y := range heads[1:] {
		u = Add(u, y)
	}
	return u
}

// Preactivation is 1/K Σ_k A^(k)(X) X W^(k).
func (c GAT) Preactivation(x *Node, w []*Node) *Node {
	a := c.attend(x, w)
	return sum(over(a.o.Mix(a.values, columns(a.exp, len(a.values), 1)), a.total))
}

// Activate is ReLU(U + b), and Gate V where ReLU is active.
func (GAT) Activate(u *Node, w []*Node) *Node { return biasedReLU(u, w[1]) }
func (GAT) Gate(u, v *Node, w []*Node) *Node  { return gate(u, v, w[1]) }

// The tape of Linearize.
const (
	gatX       = iota
	gatY       // Y, of which the heads' values y are the first columns
	gatOwn     // z_i = Σ_j A_ij y_j of all heads, [n, K d]
	gatSteep   // Σ_j A_ij φ'_ij y_j, φ' the slope of LeakyReLU
	gatSum     // Σ_j A_ij φ'_ij, [n, K]
	gatBack    // A_ji of each entry (i, j), [entries, K]
	gatBackWay // A_ji φ'_ji
)

// Linearize keeps what the derivative needs. With g the cotangent of a head's mixture z, that of the score of (i, j) is
// A_ij φ'_ij (g_i·y_j - g_i·z_i). Scores split into node terms, so that the derivative takes only aggregations:
// Σ_i A_ij φ'_ij (g_i·y_j) = (Σ_i A_ij φ'_ij g_i)·y_j.
func (c GAT) Linearize(x *Node, w []*Node) (*Node, []*Node) {
	a := c.attend(x, w)
	o, heads := a.o, len(a.values)
	steep := Mul(a.exp, leakySlope(Add(o.Columns(a.s), o.Rows(a.t))))
	mixed := o.Mix(append(a.values[:heads:heads], a.values...), append(columns(a.exp, heads, 1), columns(steep, heads, 1)...))
	own, ownSteep := over(mixed[:heads], a.total), over(mixed[heads:], a.total)
	// The same weights seen from the other end: entry (i, j) carries A_ji, the graph being undirected.
	score := Add(o.Rows(a.s), o.Columns(a.t))
	back := o.Real(Exp(Sub(leaky(score), o.Columns(Add(a.top, Log(a.total))))))
	return sum(own), []*Node{x, a.y, beside(own), beside(ownSteep), Div(o.SumRows(steep), a.total), back, Mul(back, leakySlope(score))}
}

// beside puts blocks side by side.
func beside(blocks []*Node) *Node {
	if len(blocks) == 1 {
		return blocks[0]
	}
	return Concatenate(blocks, 1)
}

// padded is the number of columns that hold K scalars beside d features: a multiple of a vector register's 16.
func padded(heads int) int { return (heads + 15) / 16 * 16 }

// pull is the cotangent of Y, [n, K d + 2K].
func (c GAT) pull(q *Node, tape, w []*Node) *Node {
	o := c.Edges.On(w[2:])
	d := q.Shape().Dimensions[1]
	heads := w[0].Shape().Dimensions[1] / (d + 2)
	n := q.Shape().Dimensions[0]
	inner, steep := make([]*Node, heads), make([]*Node, heads)
	for k, z := range columns(tape[gatOwn], heads, d) {
		inner[k] = rowDots(z, q)
	}
	for k, z := range columns(tape[gatSteep], heads, d) {
		steep[k] = rowDots(z, q)
	}
	// Beside the cotangent's rows the inner products g_i·z_i of all heads are summed.
	parts := append([]*Node{q}, inner...)
	if more := padded(heads) - heads; more > 0 {
		parts = append(parts, BroadcastToDims(loop.Float(q, 0), n, more))
	}
	extended := Concatenate(parts, 1)
	sources := make([]*Node, 2*heads)
	for k := range heads {
		sources[k], sources[heads+k] = q, extended
	}
	mixed := o.Mix(sources, append(columns(tape[gatBack], heads, 1), columns(tape[gatBackWay], heads, 1)...))
	ds := make([]*Node, heads)
	for k, y := range columns(tape[gatY], heads, d) {
		m := mixed[heads+k]
		ds[k] = Sub(rowDots(Slice(m, AxisRange(), AxisRange(0, d)), y), Slice(m, AxisRange(), AxisElem(d+k)))
	}
	dt := Sub(beside(steep), Mul(beside(inner), tape[gatSum]))
	return Concatenate(append(mixed[:heads:heads], beside(ds), dt), 1)
}

// rowDots are the inner products of rows, [n, d] to [n, 1]. (XLA CPU computes batched products of vectors one by one on one thread;
// products with ones fuse, and run on all.)
func rowDots(a, b *Node) *Node {
	dims := a.Shape().Dimensions
	return Dot(Mul(a, b), BroadcastToDims(loop.Float(a, 1), dims[1], 1)).Product()
}

// PullX is the derivative by X, and shares the cotangent of Y.
func (c GAT) PullX(q *Node, tape, w []*Node) (*Node, []*Node) {
	dy := c.pull(q, tape, w)
	return Dot(dy, Transpose(w[0], 0, 1)).Product(), []*Node{dy}
}

// PullW are the cotangents of the matrix and of b.
func (c GAT) PullW(q *Node, shared, tape, _ []*Node) []*Node {
	return []*Node{Dot(Transpose(tape[gatX], 0, 1), shared[0]).Product(), loop.Sum(q)}
}
