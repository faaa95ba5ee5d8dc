package layers

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// slope is that of LeakyReLU for negative arguments, as in Veličković et al. (ICLR 2018).
const slope = 0.2

// GAT is the residual branch of a graph attention layer with K heads, whose results are averaged (Veličković et al.,
// ICLR 2018; paper section 3.3 and appendix on multi-head attention):
//
//	h(X) = σ(1/K Σ_k A^(k)(X) X W^(k) + X V + b),  X: [n, d],
//	A^(k)_ij = softmax_j(LeakyReLU(s_j + t_i)) over i's neighbours and i itself,
//	s = X W^(k) a_src, t = X W^(k) a_dst.
//
// V is the weight for the features of the node itself; the paper has none. If the attention is regarded as constant,
// Lip(h) is at most ‖V‖ plus the mean of the ‖W^(k)‖, for the distance max_i |x_i - x'_i|. But nothing bounds how the
// attention changes with X: the inverse may not exist, and residuals must be watched.
//
// A layer computes one dense product, Y = X [W/K | W a_src | W a_dst | V], [n, m], and sums of rows of Y over
// neighbours; so does the derivative.
type GAT struct {
	Activation Activation
	// Ego says that there is a V.
	Ego bool
}

// GATWeights are the weights of [GAT].
type GATWeights struct {
	// Maps, [d, m], holds side by side all that multiplies X: the W^(k)/K, the vectors W^(k) a_src, the vectors
	// W^(k) a_dst of all heads and, if there is one, V. So m is (d+2) K, or (d+2) K + d.
	Maps *Node
	B    *Node // [d]
	// Edges has a copy of each node for each head, and each edge in both directions. For directed edges, leave out the
	// others by [sparse.BareEdges.Keeping], and give Back, [places, 1]: at (i, j), 1 if (j, i) is an edge, else 0.
	Edges sparse.BareEdges
	Back  loop.Constant
}

// attention has intermediate results of all K heads: y is Y of [GAT]; values are the rows of X W^(k)/K, [n K, d]; s and
// t are the terms of scores, [n K, 1]; top is each row's largest score, exp is exp(score - top), [places, 1], and total
// its sum over each row, [n K, 1].
type attention struct {
	o                             sparse.BareEdges
	y                             *Node
	values, s, t, top, exp, total *Node
}

// leaky is LeakyReLU.
func leaky(x *Node) *Node { return Max(x, Mul(x, loop.Like(loop.Float(x, slope), x))) }

func leakySlope(x *Node) *Node {
	return loop.Select2(GreaterThan(x, loop.Zeros(x)), loop.Float(x, 1), loop.Float(x, slope))
}

// expOfEntries is exp(x) for entries, where x <= 0 but for rounding. For padding, x may be any number; with 1 at most,
// the result is finite, so that multiplying it by 0 removes it.
func expOfEntries(x *Node) *Node { return Exp(Min(x, loop.Like(loop.Float(x, 1), x))) }

func (c GAT) attend(x *Node, w GATWeights) attention {
	d := x.Shape().Dimensions[1]
	y := Dot(x, w.Maps).Product()
	heads := w.Edges.Heads()
	a := attention{o: w.Edges, y: y, values: copies(y, d, 0, heads*d),
		s: copies(y, 1, heads*d, heads), t: copies(y, 1, heads*(d+1), heads)}
	needSymmetric("GAT", a.o)
	s := a.o.Sources(a.s)
	// LeakyReLU is increasing, so that the largest s_j gives the largest score.
	a.top = leaky(Add(a.o.Max(s), a.t))
	a.exp = a.o.Mask(expOfEntries(Sub(leaky(Add(s, a.o.Targets(a.t))), a.o.Targets(a.top))))
	// The second term is 0, but a second use of top: else XLA would compute it again for every entry of a row.
	a.total = Add(a.o.Sum(a.exp), Min(Abs(a.top), loop.Zeros(a.top)))
	return a
}

// needSymmetric panics unless the pattern is its own transpose.
func needSymmetric(layer string, e sparse.BareEdges) {
	if !e.Symmetric() {
		panic(fmt.Errorf("%s needs a symmetric pattern: every edge in both directions; "+
			"for directed edges, use sparse.Edges, or GAT with GATWeights.Back", layer))
	}
}

// copies reshapes count columns of x, from a given one on, to rows of the given width: one for each head.
func copies(x *Node, width, from, count int) *Node {
	return Reshape(Slice(x, AxisRange(), AxisRange(from, from+count)), -1, width)
}

func over(rows, total *Node) *Node { return Div(rows, BroadcastToShape(total, rows.Shape())) }

// sum adds up the rows of each node's heads: [n K, d] to [n, d].
func sum(rows *Node, heads int) *Node {
	d := rows.Shape().Dimensions[1]
	side := Reshape(rows, -1, heads*d)
	u := Slice(side, AxisRange(), AxisRange(0, d))
	for k := 1; k < heads; k++ {
		u = Add(u, Slice(side, AxisRange(), AxisRange(k*d, (k+1)*d)))
	}
	return u
}

// Preactivation is 1/K Σ_k A^(k)(X) X W^(k) and, with Ego, + X V.
func (c GAT) Preactivation(x *Node, w GATWeights) *Node {
	a := c.attend(x, w)
	return c.withEgo(a, over(a.o.Products([]*Node{a.values}, []*Node{a.exp})[0], a.total))
}

// withEgo adds up the heads' results, mixed, [n K, d], and X V, the last d columns of Y.
func (c GAT) withEgo(a attention, mixed *Node) *Node {
	u := sum(mixed, a.o.Heads())
	if !c.Ego {
		return u
	}
	columns := a.y.Shape().Dimensions[1]
	return Add(u, Slice(a.y, AxisRange(), AxisRange(columns-u.Shape().Dimensions[1], columns)))
}

func (c GAT) Activate(u *Node, w GATWeights) *Node { return c.Activation.biased(u, w.B) }
func (c GAT) Gate(u, v *Node, w GATWeights) *Node  { return c.Activation.gate(u, v, w.B) }

// Positions on the tape, with the symbols of [GAT.Linearize].
const (
	gatX       = iota
	gatY       // Y, [n, m]; its first K d columns are the y_j
	gatOwn     // z_i = Σ_j A_ij y_j, [n K, d]
	gatSteep   // Σ_j A_ij φ'_ij y_j, [n K, d]
	gatSum     // Σ_j A_ij φ'_ij, [n K, 1]
	gatBack    // A_ji for each place (i, j), [places, 1]
	gatBackWay // A_ji φ'_ji for each place (i, j), [places, 1]
)

// Linearize also makes the tape. For a head, let A be the attention, y_j the row of X W^(k)/K for node j, z_i = Σ_j
// A_ij y_j, g_i the cotangent of z_i, and φ'_ij the slope of LeakyReLU at s_j + t_i, whose cotangent is A_ij φ'_ij
// (g_i·y_j - g_i·z_i). Its sums over j and i are the cotangents of t_i and s_j. They take a sum of rows over
// neighbours, and an inner product per node, and none per edge:
//
//	Σ_i A_ij φ'_ij (g_i·y_j) = (Σ_i A_ij φ'_ij g_i)·y_j.
func (c GAT) Linearize(x *Node, w GATWeights) (*Node, []*Node) {
	a := c.attend(x, w)
	o := a.o
	steep := Mul(a.exp, leakySlope(Add(o.Sources(a.s), o.Targets(a.t))))
	mixed := o.Products([]*Node{a.values, a.values}, []*Node{a.exp, steep})
	own, ownSteep := over(mixed[0], a.total), over(mixed[1], a.total)
	// back is A_ji at the place of (i, j), exp(LeakyReLU(s_i + t_j) - top_j) / total_j; the pattern is symmetric.
	score := Add(o.Targets(a.s), o.Sources(a.t))
	back := expOfEntries(Sub(leaky(score), o.Sources(Add(a.top, Log(a.total)))))
	if w.Back.Node != nil {
		back = Mul(back, w.Back.Node)
	} else {
		back = o.Mask(back)
	}
	tape := []*Node{x, a.y, own, ownSteep, Div(o.Sum(steep), a.total), back, Mul(back, leakySlope(score))}
	return c.withEgo(a, own), tape
}

// spare is the number of columns that pull appends to the heads' cotangents, [n K, d]: one for an inner product, and
// zeros, since the processor computes with 16 numbers at once.
const spare = 16

// pull is the cotangent of Y from that of the preactivation, q, whose row i is g_i for every head.
func (c GAT) pull(q *Node, tape []*Node, w GATWeights) *Node {
	o, heads := w.Edges, w.Edges.Heads()
	n, d := q.Shape().Dimensions[0], q.Shape().Dimensions[1]
	all := n * heads
	own := Reshape(BroadcastToDims(Reshape(q, n, 1, d), n, heads, d), all, d)
	inner, steep := loop.RowDots(tape[gatOwn], own), loop.RowDots(tape[gatSteep], own)
	// The g_i·z_i become a column beside the g_i, and one product sums both over neighbours.
	extended := Concatenate([]*Node{own, inner, BroadcastToDims(loop.Float(q, 0), all, spare-1)}, 1)
	mixed := o.Products([]*Node{q, extended}, []*Node{tape[gatBack], tape[gatBackWay]})
	m := mixed[1]
	ds := loop.RowDots(Slice(m, AxisRange(), AxisRange(0, d)), copies(tape[gatY], d, 0, heads*d))
	ds = Sub(ds, Slice(m, AxisRange(), AxisElem(d)))
	dt := Sub(steep, Mul(inner, tape[gatSum]))
	parts := []*Node{Reshape(mixed[0], n, heads*d), Reshape(ds, n, heads), Reshape(dt, n, heads)}
	if c.Ego {
		parts = append(parts, q)
	}
	return Concatenate(parts, 1)
}

// PullX is dY Maps^T. It shares dY, the cotangent of Y.
func (c GAT) PullX(q *Node, tape []*Node, w GATWeights) (*Node, []*Node) {
	dy := c.pull(q, tape, w)
	return Dot(dy, Transpose(w.Maps, 0, 1)).Product(), []*Node{dy}
}

// PullW has X^T dY and the sum of q's rows.
func (c GAT) PullW(q *Node, shared, tape []*Node, _ GATWeights) GATWeights {
	return GATWeights{Maps: Dot(Transpose(tape[gatX], 0, 1), shared[0]).Product(), B: loop.Sum(q)}
}
