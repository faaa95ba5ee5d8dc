package layers

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// The constant slope is the slope of LeakyReLU for negative arguments, as in the attention of Veličković et al. (ICLR
// 2018).
const slope = 0.2

// GAT is the residual branch of a graph attention layer with K heads, whose results are averaged (Veličković et al.,
// ICLR 2018; paper section 3.3 and appendix on multi-head attention):
//
//	h(X) = σ(1/K Σ_k A^(k)(X) X W^(k) + X V + b),  X: [n, d],
//	A^(k)_ij = softmax_j(LeakyReLU(s_j + t_i)) over i's neighbours and i itself,
//	s = X W^(k) a_src, t = X W^(k) a_dst.
//
// V is the ego weight, for the features of the node itself; the paper has none. If the attention is regarded as
// constant, Lip(h) is at most ‖V‖ plus the mean of the ‖W^(k)‖, for the distance max_i |x_i - x'_i| of two states. But
// the attention changes with X, and nothing bounds this change: the inverse may not exist, and residuals must be
// watched.
//
// GAT implements solve.Layer by hand. A layer computes one dense product, Y = X [W/K | W a_src | W a_dst | V], [n, m],
// and sums of rows of Y over neighbours; so does the derivative.
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
	// Edges has a copy of each node for each head, and each edge in both directions. For edges with a direction, leave
	// out the others by [sparse.BareEdges.Keeping], and give Back, [places, 1]: at the place of (i, j), it is
	// 1 if (j, i) is an edge, else 0.
	Edges sparse.BareEdges
	Back  loop.Constant
}

// attention holds the intermediate results of a layer's attention, for all K heads. The pattern has K copies of each
// node, one copy for each head. The arrays values, s, t, top and total have one row for each copy.
//
//   - o is the pattern. Its methods are operations such as sums over neighbours.
//   - y is the product Y in the comment on [GAT].
//   - values are the rows of X W^(k)/K for all heads k, [n K, d].
//   - s and t are the two terms of the scores LeakyReLU(s_j + t_i), [n K, 1].
//   - top is the largest score of every row of the pattern, [n K, 1].
//   - exp is exp(score - top) for every place, [places, 1], and total is the sum of exp over every row, [n K, 1].
type attention struct {
	o                             sparse.BareEdges
	y                             *Node
	values, s, t, top, exp, total *Node
}

// leaky is LeakyReLU.
func leaky(x *Node) *Node { return Max(x, Mul(x, loop.Like(loop.Float(x, slope), x))) }

// leakySlope is the derivative of LeakyReLU.
func leakySlope(x *Node) *Node {
	return loop.Select2(GreaterThan(x, loop.Zeros(x)), loop.Float(x, 1), loop.Float(x, slope))
}

// expOfEntries is exp(x), where x is at most 0 for entries, but for rounding. For padding, x may be any number, since a
// score there has nothing to do with the largest score of the row. It is cut off at 1, so that the result is finite,
// and multiplying it by 0 removes it. (Infinity times 0 would be NaN.)
func expOfEntries(x *Node) *Node { return Exp(Min(x, loop.Like(loop.Float(x, 1), x))) }

// attend computes the attention of all heads for the state x.
func (c GAT) attend(x *Node, w GATWeights) attention {
	d := x.Shape().Dimensions[1]
	y := Dot(x, w.Maps).Product()
	heads := w.Edges.Heads()
	a := attention{o: w.Edges, y: y, values: copies(y, d, 0, heads*d),
		s: copies(y, 1, heads*d, heads), t: copies(y, 1, heads*(d+1), heads)}
	needSymmetric("GAT", a.o)
	s := a.o.Sources(a.s)
	// The scores of row i are LeakyReLU(s_j + t_i). The neighbour j with the largest s_j has the largest score, since
	// LeakyReLU is increasing.
	a.top = leaky(Add(a.o.Max(s), a.t))
	a.exp = a.o.Mask(expOfEntries(Sub(leaky(Add(s, a.o.Targets(a.t))), a.o.Targets(a.top))))
	// Min(Abs(a.top), 0) is 0, so that adding it does not change the totals. It is added because a.top then has a
	// second use. If a.top were used only once, XLA would compute it again for every entry of a row.
	a.total = Add(a.o.Sum(a.exp), Min(Abs(a.top), loop.Zeros(a.top)))
	return a
}

// needSymmetric panics if the pattern is not symmetric. The derivatives written by hand use the pattern as its own
// transpose, and so need a symmetric pattern.
func needSymmetric(layer string, e sparse.BareEdges) {
	if !e.Symmetric() {
		panic(fmt.Errorf("%s needs a symmetric pattern: every edge in both directions; "+
			"for directed edges, use sparse.Edges, or GAT with GATWeights.Back", layer))
	}
}

// copies takes count columns of x, beginning with the column number from, and reshapes them to rows of the given width.
// Each row of x then becomes K = count/width rows, one for each attention head. So the result has n K rows if x has n
// rows.
func copies(x *Node, width, from, count int) *Node {
	return Reshape(Slice(x, AxisRange(), AxisRange(from, from+count)), -1, width)
}

// over divides each row by its total. total has shape [rows, 1].
func over(rows, total *Node) *Node { return Div(rows, BroadcastToShape(total, rows.Shape())) }

// sum adds up the K rows of each node, one for each head: [n K, d] to [n, d].
func sum(rows *Node, heads int) *Node {
	d := rows.Shape().Dimensions[1]
	side := Reshape(rows, -1, heads*d)
	u := Slice(side, AxisRange(), AxisRange(0, d))
	for k := 1; k < heads; k++ {
		u = Add(u, Slice(side, AxisRange(), AxisRange(k*d, (k+1)*d)))
	}
	return u
}

// Preactivation is 1/K Σ_k A^(k)(X) X W^(k) + X V. If Ego is not set, X V is left out.
func (c GAT) Preactivation(x *Node, w GATWeights) *Node {
	a := c.attend(x, w)
	return c.withEgo(a, over(a.o.Products([]*Node{a.values}, []*Node{a.exp})[0], a.total))
}

// withEgo adds up the results of the K heads for each node. The rows of mixed, [n K, d], are these results. If Ego is
// set, withEgo also adds the product of X and V, which is in the last d columns of a.y.
func (c GAT) withEgo(a attention, mixed *Node) *Node {
	u := sum(mixed, a.o.Heads())
	if !c.Ego {
		return u
	}
	columns := a.y.Shape().Dimensions[1]
	return Add(u, Slice(a.y, AxisRange(), AxisRange(columns-u.Shape().Dimensions[1], columns)))
}

// Activate is σ(u + b), and Gate is v ∘ σ'(u + b).
func (c GAT) Activate(u *Node, w GATWeights) *Node { return c.Activation.biased(u, w.B) }
func (c GAT) Gate(u, v *Node, w GATWeights) *Node  { return c.Activation.gate(u, v, w.B) }

// These are the positions of the arrays on the tape. The comments on [GAT] and on [GAT.Linearize] explain the symbols.
// The arrays gatOwn, gatSteep and gatSum have one row for each node and each head.
const (
	gatX       = iota
	gatY       // Y, [n, m]; its first K d columns are the y_j
	gatOwn     // z_i = Σ_j A_ij y_j, [n K, d]
	gatSteep   // Σ_j A_ij φ'_ij y_j, [n K, d]
	gatSum     // Σ_j A_ij φ'_ij, [n K, 1]
	gatBack    // A_ji for each place (i, j), [places, 1]
	gatBackWay // A_ji φ'_ji for each place (i, j), [places, 1]
)

// Linearize computes the preactivation. The constants gatX to gatBackWay are the positions of the arrays on the tape.
//
// For the derivative, let A be the attention of a head, y_j the row of X W^(k)/K for node j, z_i = Σ_j A_ij y_j the
// result of the head for node i, and g_i the cotangent of z_i. Let φ'_ij be the slope of LeakyReLU at s_j + t_i. The
// cotangent of s_j + t_i is then A_ij φ'_ij (g_i·y_j - g_i·z_i). The sum of these cotangents over j is the cotangent of
// t_i, and their sum over i is the cotangent of s_j. These sums need no inner product for each edge: a sum of rows over
// neighbours, and one inner product for each node, are enough. For example,
//
//	Σ_i A_ij φ'_ij (g_i·y_j) = (Σ_i A_ij φ'_ij g_i)·y_j.
func (c GAT) Linearize(x *Node, w GATWeights) (*Node, []*Node) {
	a := c.attend(x, w)
	o := a.o
	steep := Mul(a.exp, leakySlope(Add(o.Sources(a.s), o.Targets(a.t))))
	mixed := o.Products([]*Node{a.values, a.values}, []*Node{a.exp, steep})
	own, ownSteep := over(mixed[0], a.total), over(mixed[1], a.total)
	// back is the transposed attention: at the place of entry (i, j), it holds A_ji. Since the pattern is symmetric,
	// there is a place (i, j) for every A_ji. With the arrays top and total (see [attention]), A_ji is
	// exp(LeakyReLU(s_i + t_j) - top_j) / total_j.
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

// spare is the number of columns that pull appends to an array [n K, d], which holds the cotangents of the heads'
// results. Only one column is needed: it holds an inner product for each row. The other columns are zeros. They make
// the computation faster, since the processor can compute with 16 numbers at once.
const spare = 16

// pull computes the cotangent of Y from q, the cotangent of the preactivation. The comment on [GAT] explains Y, and the
// comment on [GAT.Linearize] has the formulas. The preactivation is the sum of the heads' results, plus X V if Ego is
// set. So for every head, the cotangent g_i of the head's result for node i is row i of q.
func (c GAT) pull(q *Node, tape []*Node, w GATWeights) *Node {
	o, heads := w.Edges, w.Edges.Heads()
	n, d := q.Shape().Dimensions[0], q.Shape().Dimensions[1]
	all := n * heads
	own := Reshape(BroadcastToDims(Reshape(q, n, 1, d), n, heads, d), all, d)
	inner, steep := rowDots(tape[gatOwn], own), rowDots(tape[gatSteep], own)
	// The inner products g_i·z_i (see Linearize) become a column beside the rows g_i. One product then sums both the
	// rows g_i and the inner products over neighbours.
	extended := Concatenate([]*Node{own, inner, BroadcastToDims(loop.Float(q, 0), all, spare-1)}, 1)
	mixed := o.Products([]*Node{q, extended}, []*Node{tape[gatBack], tape[gatBackWay]})
	m := mixed[1]
	ds := rowDots(Slice(m, AxisRange(), AxisRange(0, d)), copies(tape[gatY], d, 0, heads*d))
	ds = Sub(ds, Slice(m, AxisRange(), AxisElem(d)))
	dt := Sub(steep, Mul(inner, tape[gatSum]))
	parts := []*Node{Reshape(mixed[0], n, heads*d), Reshape(ds, n, heads), Reshape(dt, n, heads)}
	if c.Ego {
		parts = append(parts, q)
	}
	return Concatenate(parts, 1)
}

// rowDots computes the inner product of row i of a and row i of b, for every i. a and b have the shape [n, d], and the
// result has the shape [n, 1]. It is computed as the product of a ∘ b with a column of ones. XLA CPU computes this
// product on all threads. (A batched product would compute the inner products one by one, on a single thread.)
func rowDots(a, b *Node) *Node {
	dims := a.Shape().Dimensions
	return Dot(Mul(a, b), BroadcastToDims(loop.Float(a, 1), dims[1], 1)).Product()
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
