package roofline

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// Each function in this file, except the function stored, returns a [work]: the computation of one kernel, repeated in
// a loop, for arrays of the given sizes. The state of the loop consists of the arrays that a repetition changes for the
// next repetition. All other arrays are only read.

// product is the product x W. x has shape [n, d], and W has shape [d, d].
func product(n, d int) work {
	var x, w *Node
	return repeated(&x, &w, func(x, w *Node) *Node { return Dot(x, w).Product() },
		input{&x, waves(n, d)}, input{&w, reflection(d)})
}

// triad is a = a/2 + b, which reads two arrays and writes one. The memory rate is measured with triad.
func triad(n, d int) work {
	var a, b *Node
	return repeated(&a, &b, func(a, b *Node) *Node {
		half := loop.Like(loop.Float(a, 0.5), a)
		return Add(Mul(half, a), b)
	}, input{&a, waves(n, d)}, input{&b, waves(n, d)})
}

// neighbours is the product Â x. x has shape [n, d].
func neighbours(m *sparse.Matrix, n, d int) work {
	var x *Node
	stored, inputs := stored(m)
	return repeated(&x, &stored, func(x *Node, stored []*Node) *Node { return m.Bare(stored).Product(x) },
		append([]input{{&x, waves(n, d)}}, inputs...)...)
}

// stored returns a list of nodes and a list of inputs. Both have one entry for each array that the sparse matrix m
// consists of. The nodes are nil at first. When the loop is built, each input puts the node of its array into the list
// of nodes.
func stored(m *sparse.Matrix) (nodes []*Node, inputs []input) {
	arrays := m.Tensors()
	nodes = make([]*Node, len(arrays))
	for i, array := range arrays {
		inputs = append(inputs, input{&nodes[i], array})
	}
	return nodes, inputs
}

// gradient computes the gradients of a layer's weight and bias: Xᵀ G and the sum of G's rows. In training, G is first
// multiplied by the derivative of ReLU. Here the entries of G that are not positive are set to 0 instead.
func gradient(n, d int) work {
	type state struct{ sum, factor *Node }
	type reads struct{ x, g *Node }
	var s state
	var r reads
	return repeated(&s, &r, func(s state, r reads) state {
		value, next := changing(s.factor)
		active := Where(GreaterThan(r.g, loop.Zeros(r.g)), loop.Scale(r.g, value), loop.Zeros(r.g))
		dw := Dot(Transpose(r.x, 0, 1), active).Product()
		db := Reshape(loop.Sum(active), 1, d)
		return state{Add(s.sum, tiny(Add(dw, rowVector(db, dw)))), next}
	}, input{&s.sum, waves(d, d)}, input{&s.factor, one()}, input{&r.x, waves(n, d)}, input{&r.g, waves(n, d)})
}

// iterate is what an iteration of a solve computes besides the products X W and Â X: the new iterate y - ReLU(u + b),
// and the mean absolute change of the iterate. Here y is the input of the reverse layer, b is the bias, and u is the
// preactivation. The two products have given u.
func iterate(n, d int) work {
	type state struct{ z, factor *Node }
	type reads struct{ y, u, b *Node }
	var s state
	var r reads
	return repeated(&s, &r, func(s state, r reads) state {
		value, next := changing(s.factor)
		h := loop.ReLU(Add(loop.Scale(r.u, value), rowVector(r.b, r.u)))
		change := loop.MeanAbs(Sub(Sub(r.y, h), s.z))
		// [loop.After] makes the new iterate depend on the change, as in package solve. Then XLA writes the new iterate
		// over the old one, and need not copy it.
		return state{Sub(loop.After(change, r.y), h), Add(next, tiny(Reshape(change, 1, 1)))}
	}, input{&s.z, waves(n, d)}, input{&s.factor, one()},
		input{&r.y, waves(n, d)}, input{&r.u, waves(n, d)}, input{&r.b, waves(1, d)})
}

// correct is what an iteration of an adjoint solve computes besides its two products. The adjoint solve looks for the q
// with
//
//	q = r - σ'(u + b) ∘ K^T q.
//
// Here u is the layer's preactivation, b is its bias, K is the derivative of u by the layer's features, and ∘
// multiplies entry by entry. r is σ'(u + b) ∘ v, where v is the cotangent of the layer's result. The two products have
// given p = K^T q. Three things are left to compute: the change of q, which is e = r - σ'(u + b) ∘ p - q; the mean
// absolute value of e; and the new iterate q + e.
func correct(n, d int) work {
	type state struct{ q, e, factor *Node }
	type reads struct{ r, u, p, b *Node }
	var s state
	var r reads
	return repeated(&s, &r, func(s state, r reads) state {
		value, next := changing(s.factor)
		gate := GreaterThan(Add(r.u, rowVector(r.b, r.u)), loop.Zeros(r.u))
		e := Sub(Sub(r.r, Where(gate, loop.Scale(r.p, value), loop.Zeros(r.p))), s.q)
		change := loop.MeanAbs(e)
		return state{Add(loop.After(change, s.q), e), e, Add(next, tiny(Reshape(change, 1, 1)))}
	}, input{&s.q, waves(n, d)}, input{&s.e, waves(n, d)}, input{&s.factor, one()},
		input{&r.r, waves(n, d)}, input{&r.u, waves(n, d)}, input{&r.p, waves(n, d)}, input{&r.b, waves(1, d)})
}

// layer is the start of a solve: y - ReLU(u + b), where y is the input of the reverse layer and b is the bias. The
// preactivation u = 3 u1 - 3 u2 + u3 is extrapolated from the preactivations u1, u2 and u3 of the last three layers.
func layer(n, d int) work {
	type state struct{ y, factor *Node }
	type reads struct{ u1, u2, u3, b *Node }
	var s state
	var r reads
	return repeated(&s, &r, func(s state, r reads) state {
		value, next := changing(s.factor)
		times := func(c float64, u *Node) *Node { return loop.Scale(u, Mul(value, loop.Float(u, c))) }
		u := Add(Add(Add(rowVector(r.b, s.y), times(3, r.u1)), times(-3, r.u2)), times(1, r.u3))
		// y is multiplied by 0.5, so that it does not grow over many repetitions.
		return state{Sub(loop.Scale(s.y, loop.Float(s.y, 0.5)), loop.ReLU(u)), next}
	}, input{&s.y, waves(n, d)}, input{&s.factor, one()},
		input{&r.u1, waves(n, d)}, input{&r.u2, waves(n, d)}, input{&r.u3, waves(n, d)}, input{&r.b, waves(1, d)})
}

// encoder is the product H = X W of the forward pass, and the product Xᵀ H. The latter takes as long as computing the
// gradient of W in the backward pass. X has shape [n, f], and W has shape [f, d].
func encoder(n, f, d int) work {
	var w, x *Node
	return repeated(&w, &x, func(w, x *Node) *Node {
		h := Dot(x, w).Product()
		return Add(w, tiny(Dot(Transpose(x, 0, 1), h).Product()))
	}, input{&w, waves(f, d)}, input{&x, waves(n, f)})
}

// sparseEncoder is [encoder] for features X that are stored as a sparse matrix.
func sparseEncoder(features *sparse.Matrix, f, d int) work {
	var w *Node
	stored, inputs := stored(features)
	return repeated(&w, &stored, func(w *Node, stored []*Node) *Node {
		x := features.Bare(stored)
		return Add(w, tiny(x.Transposed().Product(x.Product(w))))
	}, append([]input{{&w, waves(f, d)}}, inputs...)...)
}

// head is the product R W of the forward pass, and the two products for the gradients of R and W. R has the forward and
// the reverse features side by side, and the shape [n, 2 d]. W has the shape [2 d, c].
func head(n, d, c int) work {
	type state struct{ representation, weight *Node }
	var s state
	var w *Node
	return repeated(&s, &w, func(s state, w *Node) state {
		logits := Dot(s.representation, w).Product()
		return state{Add(s.representation, tiny(Dot(logits, Transpose(w, 0, 1)).Product())),
			Add(s.weight, tiny(Dot(Transpose(s.representation, 0, 1), logits).Product()))}
	}, input{&s.representation, waves(n, 2*d)}, input{&s.weight, waves(2*d, c)}, input{&w, waves(2*d, c)})
}

// adam is a step of Adam on an array p with the given count of parameters. g is the gradient, m is the running mean of
// the gradients, and v is the running mean of their squares.
func adam(count int) work {
	type state struct{ p, m, v, factor *Node }
	var s state
	var g *Node
	array := func() *tensors.Tensor { return waves(count, 1) }
	return repeated(&s, &g, func(s state, g *Node) state {
		value, next := changing(s.factor)
		g = loop.Scale(g, value)
		mix := func(x *Node, keep float64, y *Node) *Node {
			return Add(loop.Scale(x, loop.Float(x, keep)), loop.Scale(y, loop.Float(y, 1-keep)))
		}
		m, v := mix(s.m, 0.9, g), mix(s.v, 0.999, Mul(g, g))
		step := Div(m, Add(Sqrt(Abs(v)), loop.Like(loop.Float(v, 1e-8), v)))
		return state{Sub(s.p, loop.Scale(step, loop.Float(s.p, 1e-6))), m, v, next}
	}, input{&s.p, array()}, input{&s.m, array()}, input{&s.v, array()}, input{&s.factor, one()}, input{&g, array()})
}
