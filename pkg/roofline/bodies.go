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

// product is the kernel "X W", which multiplies an [n, d] matrix X by a [d, d] matrix W. The result is the X of the
// next repetition.
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

// neighbours is the kernel "Â X", which multiplies the matrix Â by an [n, d] matrix X. The argument m is Â. The result
// is the X of the next repetition.
func neighbours(m *sparse.Matrix, n, d int) work {
	var x *Node
	stored, inputs := stored(m)
	return repeated(&x, &stored, func(x *Node, stored []*Node) *Node { return m.Bare(stored).Product(x) },
		append([]input{{&x, waves(n, d)}}, inputs...)...)
}

// stored returns what the function [repeated] needs to pass the arrays of the sparse matrix m to a loop. The list nodes
// has one element for each array, which is nil at first. The list inputs has each array together with a pointer to the
// array's element of nodes. When the loop is built, repeated sets this element to the node that stands for the array.
func stored(m *sparse.Matrix) (nodes []*Node, inputs []input) {
	arrays := m.Tensors()
	nodes = make([]*Node, len(arrays))
	for i, array := range arrays {
		inputs = append(inputs, input{&nodes[i], array})
	}
	return nodes, inputs
}

// gradient is the kernel "Xᵀ G". It computes Xᵀ G for the gradient of a layer's weight, and the sum of the rows of G
// for the gradient of the bias. In training, the derivative of ReLU sets some entries of G to 0. Here the negative
// entries of G are set to 0 instead, which is as much work.
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
		// change is computed from the old iterate. [loop.After] makes XLA compute change before the new iterate. After
		// that, the old iterate is no longer needed, so that XLA can overwrite it without making a copy first.
		return state{Sub(loop.After(change, r.y), h), Add(next, tiny(Reshape(change, 1, 1)))}
	}, input{&s.z, waves(n, d)}, input{&s.factor, one()},
		input{&r.y, waves(n, d)}, input{&r.u, waves(n, d)}, input{&r.b, waves(1, d)})
}

// correct is what an iteration of an adjoint solve computes besides the products with W^T and Â^T. Let q be the present
// iterate. The two products have given p = Â^T q W^T. The iteration then computes the change of the iterate,
//
//	e = r - σ'(u + b) ∘ p - q,
//
// the mean absolute value of e, and the new iterate q + e. Here u is the layer's preactivation, b is its bias, σ' is
// the derivative of ReLU, and ∘ multiplies entry by entry. r is σ'(u + b) ∘ v, where v is the cotangent of the layer's
// result.
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

// layer computes the first guess of a solve: y - ReLU(u + b), where y is the input of the reverse layer and b is the
// bias. u = 3 u1 - 3 u2 + u3 is extrapolated from the preactivations of the three layers before. u1 belongs to the
// nearest of these layers, and u3 to the farthest.
func layer(n, d int) work {
	type state struct{ y, factor *Node }
	type reads struct{ u1, u2, u3, b *Node }
	var s state
	var r reads
	return repeated(&s, &r, func(s state, r reads) state {
		value, next := changing(s.factor)
		times := func(c float64, u *Node) *Node { return loop.Scale(u, Mul(value, loop.Float(u, c))) }
		u := Add(Add(Add(rowVector(r.b, s.y), times(3, r.u1)), times(-3, r.u2)), times(1, r.u3))
		// The result is the y of the next repetition. Here y is multiplied by 0.5, so that the numbers do not grow from
		// repetition to repetition.
		return state{Sub(loop.Scale(s.y, loop.Float(s.y, 0.5)), loop.ReLU(u)), next}
	}, input{&s.y, waves(n, d)}, input{&s.factor, one()},
		input{&r.u1, waves(n, d)}, input{&r.u2, waves(n, d)}, input{&r.u3, waves(n, d)}, input{&r.b, waves(1, d)})
}

// encoder computes two products of the model's first linear map. The first is H = X W, where X has the features of all
// nodes and shape [n, f], and W has shape [f, d]. The second is Xᵀ H. It takes as long as the gradient of W in
// training, which is Xᵀ V, where V is the cotangent of H.
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

// head computes three products of the model's last linear map. The first is Y = R W. R has the forward and the reverse
// features side by side, and shape [n, 2 d]. W has shape [2 d, c], where c is the number of outputs. The other two are
// Y Wᵀ and Rᵀ Y. They take as long as the gradients of R and W in training, which are V Wᵀ and Rᵀ V, where V is the
// cotangent of Y.
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
