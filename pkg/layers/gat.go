package layers

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
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
// It implements solve.Block. Its weights are the heads' W^(k)/K below each other, [K d, d]; the score vectors W^(k) a_src and
// W^(k) a_dst, both [d, K]; b; and the tensors of the edges.
type GAT struct{ Edges *sparse.Edges }

// Trainable is 4: the heads' matrices, both score vectors, b.
func (GAT) Trainable() int { return 4 }

// attention is what the attention of a layer is made of, in one place for all heads: [n, K].
type attention struct {
	o    sparse.EdgeOperator
	s, t *Node
	// top is the largest score of every row, and total the sum of exp(score - top).
	top, total *Node
}

func leaky(x *Node) *Node { return Max(x, Mul(x, loop.Like(loop.Float(x, slope), x))) }

// leakySlope is the derivative of leaky.
func leakySlope(x *Node) *Node {
	return loop.Select2(GreaterThan(x, loop.Zeros(x)), loop.Float(x, 1), loop.Float(x, slope))
}

// attend computes the attention at X, and its weights per entry, [entries, K].
func (c GAT) attend(x *Node, w []*Node) (a attention, weights *Node) {
	o := c.Edges.On(w[4:])
	a = attention{o: o, s: Dot(x, w[1]).Product(), t: Dot(x, w[2]).Product()}
	columns := o.Columns(a.s)
	// LeakyReLU grows with its argument: the largest score is that of the largest s_j.
	a.top = leaky(Add(o.MaxRows(columns), a.t))
	e := o.Real(Exp(Sub(leaky(Add(columns, o.Rows(a.t))), o.Rows(a.top))))
	a.total = o.SumRows(e)
	return a, Div(e, o.Rows(a.total))
}

// Apply is h(X).
func (c GAT) Apply(x *Node, w []*Node) *Node {
	a, weights := c.attend(x, w)
	return loop.ReLU(Add(Dot(a.o.Mix(x, true, weights)[0], w[0]).Product(), rowVector(w[3], x)))
}

// The tape of Linearize.
const (
	gatX       = iota
	gatMixed   // Σ_j A_ij x_j, [n, K d]
	gatActive  // where ReLU is active, [n, d]
	gatSteep   // Σ_j A_ij φ'_ij x_j, [n, K d], φ' the slope of LeakyReLU
	gatSum     // Σ_j A_ij φ'_ij, [n, K]
	gatBack    // A_ji of each entry (i, j), [entries, K]
	gatBackWay // A_ji φ'_ji
)

// Linearize keeps what the derivative needs. Scores split into node terms, so that the derivative of the attention takes
// only aggregations: with g the cotangent of a head's mixture, Σ_i A_ij φ'_ij (g_i·x_j) = (Σ_i A_ij φ'_ij g_i)·x_j.
func (c GAT) Linearize(x *Node, w []*Node) (*Node, []*Node) {
	a, weights := c.attend(x, w)
	o := a.o
	steep := Mul(weights, leakySlope(Add(o.Columns(a.s), o.Rows(a.t))))
	mixed := o.Mix(x, true, weights, steep)
	u := Add(Dot(mixed[0], w[0]).Product(), rowVector(w[3], x))
	// The same weights seen from the other end: entry (i, j) carries A_ji, the graph being undirected.
	score := Add(o.Rows(a.s), o.Columns(a.t))
	back := Div(o.Real(Exp(Sub(leaky(score), o.Columns(a.top)))), o.Columns(a.total))
	return loop.ReLU(u), []*Node{x, mixed[0], GreaterThan(u, loop.Zeros(u)), mixed[1], o.SumRows(steep), back, Mul(back, leakySlope(score))}
}

// pull returns the cotangents of X through the values, [n, d], and of the scores s and t, [n, K].
func (c GAT) pull(v *Node, tape, w []*Node) (dx, ds, dt *Node) {
	o := c.Edges.On(w[4:])
	n, heads, d := v.Shape().Dimensions[0], w[1].Shape().Dimensions[1], v.Shape().Dimensions[1]
	active := Where(tape[gatActive], v, loop.Zeros(v))
	g := Dot(active, Transpose(w[0], 0, 1)).Product() // of the heads' mixtures, [n, K d]
	add := headSums(v, heads, d)
	inner := Dot(Mul(g, tape[gatMixed]), add).Product()
	back := o.Mix(g, false, tape[gatBack], tape[gatBackWay])
	repeated := Reshape(BroadcastToDims(Reshape(tape[gatX], n, 1, d), n, heads, d), n, heads*d)
	ds = Sub(Dot(Mul(back[1], repeated), add).Product(), o.SumRows(Mul(tape[gatBackWay], o.Columns(inner))))
	dt = Sub(Dot(Mul(g, tape[gatSteep]), add).Product(), Mul(inner, tape[gatSum]))
	for k := range heads {
		part := Slice(back[0], AxisRange(), AxisRange(k*d, (k+1)*d))
		if dx == nil {
			dx = part
		} else {
			dx = Add(dx, part)
		}
	}
	return dx, ds, dt
}

// headSums is the constant [K d, K] matrix that adds up the columns of each head.
func headSums(like *Node, heads, d int) *Node {
	g := like.Graph()
	shape := shapes.Make(dtypes.Int32, heads, d, heads)
	same := Equal(Iota(g, shape, 0), Iota(g, shape, 2))
	return ConvertDType(Reshape(same, heads*d, heads), like.DType())
}

// PullX is the derivative by X: through the values, and through the scores of both ends.
func (c GAT) PullX(v *Node, tape, w []*Node) *Node {
	dx, ds, dt := c.pull(v, tape, w)
	return Add(dx, Add(Dot(ds, Transpose(w[1], 0, 1)).Product(), Dot(dt, Transpose(w[2], 0, 1)).Product()))
}

// PullW are the cotangents of the heads' matrices, of both score vectors and of b.
func (c GAT) PullW(v *Node, tape, w []*Node) []*Node {
	_, ds, dt := c.pull(v, tape, w)
	active := Where(tape[gatActive], v, loop.Zeros(v))
	xt := Transpose(tape[gatX], 0, 1)
	return []*Node{Dot(Transpose(tape[gatMixed], 0, 1), active).Product(), Dot(xt, ds).Product(), Dot(xt, dt).Product(), loop.Sum(active)}
}
