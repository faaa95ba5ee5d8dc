package layers

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// slope of LeakyReLU for negative scores (Veličković et al., ICLR 2018).
const slope = 0.2

// GAT is the residual branch of a graph attention layer with K heads averaged (Veličković et al., ICLR 2018; paper
// section 3.3 and appendix on multi-head attention):
//
//	h(X) = σ(1/K Σ_k A^(k)(X) X W^(k) + X V + b),  X: [n, d], W^(k), V: [d, d], b: [d],
//	A^(k)_ij = softmax_j(LeakyReLU(s_j + t_i)) over i's neighbours and i itself,
//	s = X W^(k) a_src, t = X W^(k) a_dst.
//
// The paper has ReLU for σ, and no ego weight V, which weights the node itself apart from its neighbours.
//
// At fixed attention Lip(h) is at most the mean of the heads' norms plus the norm of V, as A^(k) is right-stochastic.
// How the attention depends on X is not bounded, so that the residuals of an inverse must be watched.
//
// It implements solve.Block. Its first weight holds all matrices that X is multiplied by, side by side, [d, K d + 2K
// (+ d)]: the heads' W^(k)/K, the vectors W^(k) a_src, the vectors W^(k) a_dst, and V, if Ego. Then come b and the
// pattern's tensors. With Y = X [W/K | a_src | a_dst | V], a layer is one dense product and an aggregation of Y's rows
// over neighbours, and so is its derivative.
//
// Every edge has both directions, unless the layer is Directed. If it is Directed, the pattern also contains the
// reverse of every edge, and its tensors are made by [sparse.Pattern.Keeping] for the edges alone. There is then a
// last weight, [places, 1]: 1 for places whose reverse is an edge, else 0.
type GAT struct {
	Pattern    *sparse.Pattern
	Activation Activation
	// Ego tells that there is an ego weight V; for Directed see above.
	Ego, Directed bool
}

// edges binds the pattern to its tensors among the weights.
func (c GAT) edges(w []*Node) sparse.BareEdges {
	if c.Directed {
		w = w[:len(w)-1]
	}
	return c.Pattern.Bare(w[2:])
}

// Trainable is 2: the matrix and b.
func (GAT) Trainable() int { return 2 }

// attention holds the intermediate results of a layer's attention. y = X [W/K | a_src | a_dst]; its parts, with a row
// for each copy of a node that the pattern has (one per head): the values X W^(k)/K, [n K, d], and the scores, [n K,
// 1]; the largest score of every row (top); exp(score - top) for every entry, [entries, 1]; and its sums over rows
// (total).
type attention struct {
	o                             sparse.BareEdges
	y                             *Node
	values, s, t, top, exp, total *Node
}

func leaky(x *Node) *Node { return Max(x, Mul(x, loop.Like(loop.Float(x, slope), x))) }

// leakySlope is the derivative of LeakyReLU.
func leakySlope(x *Node) *Node {
	return loop.Select2(GreaterThan(x, loop.Zeros(x)), loop.Float(x, 1), loop.Float(x, slope))
}

func (c GAT) attend(x *Node, w []*Node) attention {
	d := x.Shape().Dimensions[1]
	y := Dot(x, w[0]).Product()
	heads := c.Pattern.Heads()
	a := attention{o: c.edges(w), y: y, values: copies(y, d, 0, heads*d),
		s: copies(y, 1, heads*d, heads), t: copies(y, 1, heads*(d+1), heads)}
	needSymmetric("GAT", a.o)
	s := a.o.Sources(a.s)
	// LeakyReLU is an increasing function, so that the neighbour j with the largest s_j has the largest score.
	a.top = leaky(Add(a.o.Max(s), a.t))
	a.exp = a.o.Mask(Exp(Sub(leaky(Add(s, a.o.Targets(a.t))), a.o.Targets(a.top))))
	// The zero added to the totals is a second use of the largest scores. Without it, XLA would compute them anew for
	// every entry of a row.
	a.total = Add(a.o.Sum(a.exp), Min(Abs(a.top), loop.Zeros(a.top)))
	return a
}

// needSymmetric panics for patterns of directed edges: derivatives by hand read the pattern as its own transpose.
func needSymmetric(layer string, e sparse.BareEdges) {
	if !e.Symmetric() {
		panic(fmt.Errorf("%s needs a symmetric pattern: every edge in both directions; "+
			"for directed edges, use sparse.Edges", layer))
	}
}

// copies are columns from … from+count-1 of x, reshaped to rows of the given width: [n count/width, width].
func copies(x *Node, width, from, count int) *Node {
	return Reshape(Slice(x, AxisRange(), AxisRange(from, from+count)), -1, width)
}

// over divides rows by their totals, [rows, 1].
func over(rows, total *Node) *Node { return Div(rows, BroadcastToShape(total, rows.Shape())) }

// sum adds up the rows of the K heads of each node, [n K, d] to [n, d].
func sum(rows *Node, heads int) *Node {
	d := rows.Shape().Dimensions[1]
	side := Reshape(rows, -1, heads*d)
	u := Slice(side, AxisRange(), AxisRange(0, d))
	for k := 1; k < heads; k++ {
		u = Add(u, Slice(side, AxisRange(), AxisRange(k*d, (k+1)*d)))
	}
	return u
}

// Preactivation is 1/K Σ_k A^(k)(X) X W^(k) + X V.
func (c GAT) Preactivation(x *Node, w []*Node) *Node {
	a := c.attend(x, w)
	return c.withEgo(a, over(a.o.Products([]*Node{a.values}, []*Node{a.exp})[0], a.total))
}

// withEgo is the sum of the heads' results, plus X V if there is a V.
func (c GAT) withEgo(a attention, mixed *Node) *Node {
	u := sum(mixed, c.Pattern.Heads())
	if !c.Ego {
		return u
	}
	columns := a.y.Shape().Dimensions[1]
	return Add(u, Slice(a.y, AxisRange(), AxisRange(columns-u.Shape().Dimensions[1], columns)))
}

// Activate is σ(U + b), and Gate V ∘ σ'(U + b).
func (c GAT) Activate(u *Node, w []*Node) *Node { return c.Activation.biased(u, w[1]) }
func (c GAT) Gate(u, v *Node, w []*Node) *Node  { return c.Activation.gate(u, v, w[1]) }

// The entries of the tape; rows belong to the nodes' copies.
const (
	gatX       = iota
	gatY       // Y, [n, K d + 2K (+ d)]; its first K d columns are the values y
	gatOwn     // z_i = Σ_j A_ij y_j, [n K, d]
	gatSteep   // Σ_j A_ij φ'_ij y_j, φ' the slope of LeakyReLU
	gatSum     // Σ_j A_ij φ'_ij, [n K, 1]
	gatBack    // A_ji of each entry (i, j), [entries, 1]
	gatBackWay // A_ji φ'_ji
)

// Linearize keeps what the derivative needs. Let g be the cotangent of a head's result z. The cotangent of the score
// of entry (i, j) is A_ij φ'_ij (g_i·y_j - g_i·z_i). As a score is a sum of two node terms, only sums over edges are
// needed, and the derivative takes only aggregations: Σ_i A_ij φ'_ij (g_i·y_j) = (Σ_i A_ij φ'_ij g_i)·y_j.
func (c GAT) Linearize(x *Node, w []*Node) (*Node, []*Node) {
	a := c.attend(x, w)
	o := a.o
	steep := Mul(a.exp, leakySlope(Add(o.Sources(a.s), o.Targets(a.t))))
	mixed := o.Products([]*Node{a.values, a.values}, []*Node{a.exp, steep})
	own, ownSteep := over(mixed[0], a.total), over(mixed[1], a.total)
	// The transposed attention: entry (i, j) holds A_ji, which exists as the graph is undirected.
	score := Add(o.Targets(a.s), o.Sources(a.t))
	back := Exp(Sub(leaky(score), o.Sources(Add(a.top, Log(a.total)))))
	if c.Directed {
		back = Mul(back, w[len(w)-1])
	} else {
		back = o.Mask(back)
	}
	tape := []*Node{x, a.y, own, ownSteep, Div(o.Sum(steep), a.total), back, Mul(back, leakySlope(score))}
	return c.withEgo(a, own), tape
}

// spare is the number of columns appended to a cotangent's d: the first holds a scalar, the others fill a vector
// register of 16.
const spare = 16

// pull computes the cotangent of Y, [n, K d + 2K (+ d)].
func (c GAT) pull(q *Node, tape, w []*Node) *Node {
	o, heads := c.edges(w), c.Pattern.Heads()
	n, d := q.Shape().Dimensions[0], q.Shape().Dimensions[1]
	all := n * heads
	own := Reshape(BroadcastToDims(Reshape(q, n, 1, d), n, heads, d), all, d)
	inner, steep := rowDots(tape[gatOwn], own), rowDots(tape[gatSteep], own)
	// The inner products g_i·z_i are summed together with the cotangent's rows.
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

// rowDots are the inner products of rows, [n, d] to [n, 1]. (XLA CPU computes batched products of vectors one by one
// on a single thread; products with ones are fused and use all threads.)
func rowDots(a, b *Node) *Node {
	dims := a.Shape().Dimensions
	return Dot(Mul(a, b), BroadcastToDims(loop.Float(a, 1), dims[1], 1)).Product()
}

// PullX is the derivative by X; it shares the cotangent of Y with PullW.
func (c GAT) PullX(q *Node, tape, w []*Node) (*Node, []*Node) {
	dy := c.pull(q, tape, w)
	return Dot(dy, Transpose(w[0], 0, 1)).Product(), []*Node{dy}
}

// PullW are the cotangents of the matrix and of b.
func (c GAT) PullW(q *Node, shared, tape, _ []*Node) []*Node {
	return []*Node{Dot(Transpose(tape[gatX], 0, 1), shared[0]).Product(), loop.Sum(q)}
}
