package roofline

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// The work of the kernels, on arrays of the given sizes: x is a loop's state, and r what it only reads.

// product is x W for x [n, d] and W [d, d].
func product(n, d int) work {
	var x, w *Node
	return repeated(&x, &w, func(x, w *Node) *Node { return Dot(x, w).Product() },
		input{&x, waves(n, d)}, input{&w, reflection(d)})
}

// triad is a = a/2 + b, which reads two arrays and writes one.
func triad(n, d int) work {
	var a, b *Node
	return repeated(&a, &b, func(a, b *Node) *Node {
		half := loop.Like(loop.Float(a, 0.5), a)
		return Add(Mul(half, a), b)
	}, input{&a, waves(n, d)}, input{&b, waves(n, d)})
}

// neighbours is Â x for x [n, d].
func neighbours(m *sparse.Matrix, n, d int) work {
	var x *Node
	stored, inputs := stored(m)
	return repeated(&x, &stored, func(x *Node, stored []*Node) *Node { return m.Bare(stored).Product(x) },
		append([]input{{&x, waves(n, d)}}, inputs...)...)
}

// stored are the places of a sparse matrix's nodes, and what to fill them from.
func stored(m *sparse.Matrix) (nodes []*Node, inputs []input) {
	arrays := m.Tensors()
	nodes = make([]*Node, len(arrays))
	for i, array := range arrays {
		inputs = append(inputs, input{&nodes[i], array})
	}
	return nodes, inputs
}

// gradient is that of the convolution: Xᵀ G and the sum of G's rows, where G is masked as by ReLU.
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

// iterate is z = y - ReLU(u + b) with the mean change of z: the part of a solve's iteration after its products.
func iterate(n, d int) work {
	type state struct{ z, factor *Node }
	type reads struct{ y, u, b *Node }
	var s state
	var r reads
	return repeated(&s, &r, func(s state, r reads) state {
		value, next := changing(s.factor)
		h := loop.ReLU(Add(loop.Scale(r.u, value), rowVector(r.b, r.u)))
		change := loop.MeanAbs(Sub(Sub(r.y, h), s.z))
		// As in a solve, the new iterate depends on the change, so that it overwrites the old one.
		return state{Sub(loop.After(change, r.y), h), Add(next, tiny(Reshape(change, 1, 1)))}
	}, input{&s.z, waves(n, d)}, input{&s.factor, one()},
		input{&r.y, waves(n, d)}, input{&r.u, waves(n, d)}, input{&r.b, waves(1, d)})
}

// correct is the part of the adjoint's iteration after its products: e = r - σ'(u + b) ∘ p - q with its mean, and q +
// e.
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

// layer is the start of a solve, y - ReLU(3 u1 - 3 u2 + u3 + b), from the preactivations of the last layers.
func layer(n, d int) work {
	type state struct{ y, factor *Node }
	type reads struct{ u1, u2, u3, b *Node }
	var s state
	var r reads
	return repeated(&s, &r, func(s state, r reads) state {
		value, next := changing(s.factor)
		times := func(c float64, u *Node) *Node { return loop.Scale(u, Mul(value, loop.Float(u, c))) }
		u := Add(Add(Add(rowVector(r.b, s.y), times(3, r.u1)), times(-3, r.u2)), times(1, r.u3))
		// Halved, so that it does not grow over repetitions.
		return state{Sub(loop.Scale(s.y, loop.Float(s.y, 0.5)), loop.ReLU(u)), next}
	}, input{&s.y, waves(n, d)}, input{&s.factor, one()},
		input{&r.u1, waves(n, d)}, input{&r.u2, waves(n, d)}, input{&r.u3, waves(n, d)}, input{&r.b, waves(1, d)})
}

// encoder is X W forwards and Xᵀ H for the weight's gradient, for X [n, f] and W [f, d].
func encoder(n, f, d int) work {
	var w, x *Node
	return repeated(&w, &x, func(w, x *Node) *Node {
		h := Dot(x, w).Product()
		return Add(w, tiny(Dot(Transpose(x, 0, 1), h).Product()))
	}, input{&w, waves(f, d)}, input{&x, waves(n, f)})
}

// sparseEncoder is encoder for sparse features X.
func sparseEncoder(features *sparse.Matrix, f, d int) work {
	var w *Node
	stored, inputs := stored(features)
	return repeated(&w, &stored, func(w *Node, stored []*Node) *Node {
		x := features.Bare(stored)
		return Add(w, tiny(x.Transposed().Product(x.Product(w))))
	}, append([]input{{&w, waves(f, d)}}, inputs...)...)
}

// head is R W forwards and both gradients, of R [n, 2 d] and W [2 d, c].
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

// adam is a step of Adam on count parameters p, with m the running mean of their gradients g, and v that of their
// squares.
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
