package roofline

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// Kernel is one kind of work in an epoch.
type Kernel struct {
	Name string `json:"name"`
	// Operations and Bytes of one execution, and Times that an epoch executes it.
	Operations float64 `json:"operations"`
	Bytes      float64 `json:"bytes"`
	Times      float64 `json:"times"`
	// Seconds of one execution as measured, Least as the machine's rates allow, and Fraction of the one in the other.
	Seconds  float64 `json:"seconds"`
	Least    float64 `json:"least_seconds"`
	Fraction float64 `json:"fraction"`

	state, fixed []*tensors.Tensor
	body         body
}

// Shape is what the counts depend on.
type Shape struct {
	Nodes    int `json:"nodes"`
	Entries  int `json:"entries"`
	Features int `json:"features"`
	// FeatureEntries is the number of features of all nodes that are not zero, if the encoder multiplies them as a sparse matrix, else 0.
	FeatureEntries int `json:"feature_entries"`
	Outputs        int `json:"outputs"`
	Hidden         int `json:"hidden"`
	Forward        int `json:"forward"`
	Reverse        int `json:"reverse"`
	// Solve and Adjoint are mean iterations per reverse layer.
	Solve   float64 `json:"solve"`
	Adjoint float64 `json:"adjoint"`
	// Kept says that the reverse chain keeps its preactivations.
	Kept bool `json:"kept"`
}

// parameters is their number: encoder, convolution, head.
func (s Shape) parameters() float64 {
	f, d, c := float64(s.Features), float64(s.Hidden), float64(s.Outputs)
	return (f+1)*d + d*d + d + (2*d+1)*c
}

// counts are the kernels of an epoch by the formulas of the package's documentation.
func counts(s Shape) []Kernel {
	n, e, f, d, c := float64(s.Nodes), float64(s.Entries), float64(s.Features), float64(s.Hidden), float64(s.Outputs)
	forward, reverse, p := float64(s.Forward), float64(s.Reverse), s.parameters()
	evaluations := 4*forward + reverse*(s.Solve+1+s.Adjoint)
	products := evaluations
	if s.Kept {
		products -= reverse
	}
	encoder := Kernel{Name: "encoder", Operations: 4 * n * f * d, Bytes: 4 * (2*n*f + 2*n*d + 4*f*d), Times: 1}
	if z := float64(s.FeatureEntries); z > 0 {
		encoder.Operations, encoder.Bytes = 4*z*d, z*(8*d+16)+4*(2*n*d+4*f*d)
	}
	return []Kernel{
		{Name: "X W", Operations: 2 * n * d * d, Bytes: 4 * (2*n*d + d*d), Times: products},
		{Name: "Â X", Operations: 2 * e * d, Bytes: e*(4*d+8) + 4*n*d, Times: evaluations},
		{Name: "Xᵀ G", Operations: 2 * n * d * d, Bytes: 4 * (2*n*d + d*d), Times: forward + reverse},
		{Name: "iterate", Operations: 6 * n * d, Bytes: 16 * n * d, Times: reverse * s.Solve},
		{Name: "correct", Operations: 7 * n * d, Bytes: 24 * n * d, Times: reverse * s.Adjoint},
		{Name: "layer", Operations: 8 * n * d, Bytes: 20 * n * d, Times: 4 * reverse},
		encoder,
		{Name: "head", Operations: 12 * n * d * c, Bytes: 4 * (8*n*d + 4*n*c), Times: 1},
		{Name: "Adam", Operations: 12 * p, Bytes: 28 * p, Times: 1},
	}
}

// bound fills in the least time.
func (k *Kernel) bound(r Rates) { k.Least = max(k.Operations/r.matrix(), k.Bytes/r.Near) }

// kernels are the counts with loops to time them by, in the same order; features are the sparse ones, or nil.
func kernels(s Shape, m *sparse.Matrix, features *sparse.Matrix) []Kernel {
	n, d, f, c := s.Nodes, s.Hidden, s.Features, s.Outputs
	x := func() *tensors.Tensor { return filled(n, d, wave) }
	one := tensors.FromFlatDataAndDimensions([]float32{1}, 1, 1)
	list := counts(s)
	set := func(i int, b body, fixed []*tensors.Tensor, state ...*tensors.Tensor) {
		list[i].state, list[i].fixed, list[i].body = state, fixed, b
	}
	set(0, product, []*tensors.Tensor{reflection(d)}, x())
	set(1, func(state, fixed []*Node) []*Node { return []*Node{m.Bare(fixed).Product(state[0])} }, m.Tensors(), x())
	set(2, gradient, []*tensors.Tensor{x(), x()}, filled(d, d, wave), one)
	set(3, iterate, []*tensors.Tensor{x(), x(), filled(1, d, wave)}, x(), one)
	set(4, correct, []*tensors.Tensor{x(), x(), x(), filled(1, d, wave)}, x(), x(), one)
	set(5, layer, []*tensors.Tensor{x(), x(), x(), filled(1, d, wave)}, x(), one)
	if features == nil {
		set(6, encoder, []*tensors.Tensor{filled(n, f, wave)}, filled(f, d, wave))
	} else {
		set(6, func(state, fixed []*Node) []*Node {
			x := features.Bare(fixed)
			return []*Node{Add(state[0], tiny(x.Transposed().Product(x.Product(state[0]))))}
		}, features.Tensors(), filled(f, d, wave))
	}
	set(7, head, []*tensors.Tensor{filled(2*d, c, wave)}, filled(n, 2*d, wave), filled(2*d, c, wave))
	p := int(s.parameters())
	set(8, adam, []*tensors.Tensor{filled(p, 1, wave)}, filled(p, 1, wave), filled(p, 1, wave), filled(p, 1, wave), one)
	return list
}

// tiny scales what is only added to keep a result in use: it must not change the state's size over many repetitions.
func tiny(x *Node) *Node { return loop.Scale(x, loop.Float(x, 1e-12)) }

// changing is the scalar of state s [1, 1], which differs in every repetition, so that nothing is hoisted out of the loop; next
// is the state that follows.
func changing(s *Node) (value, next *Node) {
	return Reshape(s), Add(Mul(s, loop.Like(loop.Float(s, -0.5), s)), loop.Like(loop.Float(s, 1.5), s))
}

// gradient is the convolution's: Xᵀ G and the column sums of G, G masked as behind ReLU.
func gradient(state, fixed []*Node) []*Node {
	value, next := changing(state[1])
	v := fixed[1]
	active := Where(GreaterThan(v, loop.Zeros(v)), loop.Scale(v, value), loop.Zeros(v))
	dw := Dot(Transpose(fixed[0], 0, 1), active).Product()
	return []*Node{Add(state[0], tiny(Add(dw, rowVector(Reshape(loop.Sum(active), 1, dw.Shape().Dimensions[1]), dw)))), next}
}

// iterate is z = y - ReLU(u + b) with the mean change of z, as in a solve's iteration behind its products.
func iterate(state, fixed []*Node) []*Node {
	z, y, u, b := state[0], fixed[0], fixed[1], fixed[2]
	value, next := changing(state[1])
	h := loop.ReLU(Add(loop.Scale(u, value), rowVector(b, u)))
	change := loop.MeanAbs(Sub(Sub(y, h), z))
	// As in a solve, the new iterate waits for the change, so that it overwrites the old one.
	return []*Node{Sub(loop.After(change, y), h), Add(next, tiny(Reshape(change, 1, 1)))}
}

// correct is the adjoint's iteration behind its products: e = r - σ'(u + b) ∘ p - q with its mean, and q + e.
func correct(state, fixed []*Node) []*Node {
	q, r, u, p, b := state[0], fixed[0], fixed[1], fixed[2], fixed[3]
	value, next := changing(state[2])
	gate := Where(GreaterThan(Add(u, rowVector(b, u)), loop.Zeros(u)), loop.Scale(p, value), loop.Zeros(p))
	e := Sub(Sub(r, gate), q)
	change := loop.MeanAbs(e)
	return []*Node{Add(loop.After(change, q), e), e, Add(next, tiny(Reshape(change, 1, 1)))}
}

// layer is the start of a solve, y - ReLU(3 u - 3 u' + u" + b), from the preactivations of the last layers.
func layer(state, fixed []*Node) []*Node {
	y, b := state[0], fixed[3]
	value, next := changing(state[1])
	u := rowVector(b, y)
	for k, c := range []float64{3, -3, 1} {
		u = Add(u, loop.Scale(fixed[k], Mul(value, loop.Float(y, c))))
	}
	// Multiplied, so that repetitions do not grow it.
	return []*Node{Sub(loop.Scale(y, loop.Float(y, 0.5)), loop.ReLU(u)), next}
}

// encoder is X W forwards and Xᵀ H for the weight's gradient.
func encoder(state, fixed []*Node) []*Node {
	h := Dot(fixed[0], state[0]).Product()
	return []*Node{Add(state[0], tiny(Dot(Transpose(fixed[0], 0, 1), h).Product()))}
}

// head is R W forwards and both gradients, of R and W.
func head(state, fixed []*Node) []*Node {
	logits := Dot(state[0], fixed[0]).Product()
	return []*Node{Add(state[0], tiny(Dot(logits, Transpose(fixed[0], 0, 1)).Product())),
		Add(state[1], tiny(Dot(Transpose(state[0], 0, 1), logits).Product()))}
}

// adam is a step of Adam on all parameters.
func adam(state, fixed []*Node) []*Node {
	p, m, v := state[0], state[1], state[2]
	value, next := changing(state[3])
	g := loop.Scale(fixed[0], value)
	mix := func(x *Node, keep float64, y *Node) *Node {
		return Add(loop.Scale(x, loop.Float(x, keep)), loop.Scale(y, loop.Float(y, 1-keep)))
	}
	m, v = mix(m, 0.9, g), mix(v, 0.999, Mul(g, g))
	step := Div(m, Add(Sqrt(Abs(v)), loop.Like(loop.Float(v, 1e-8), v)))
	return []*Node{Sub(p, loop.Scale(step, loop.Float(p, 1e-6))), m, v, next}
}
