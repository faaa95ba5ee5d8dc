package solve_test

import (
	"math"
	"math/rand/v2"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/solve"
)

// dense is the block h(X) = tanh(X W + b), with a derivative written by hand. It has no adjacency matrix, since package
// solve does not need a graph.
type dense struct{}

func (dense) Preactivation(x *Node, w []*Node) *Node {
	return Dot(x, w[0]).Product()
}
func (dense) Activate(u *Node, w []*Node) *Node {
	return Tanh(Add(u, BroadcastToShape(Reshape(w[1], 1, w[1].Shape().Size()), u.Shape())))
}
func (d dense) Gate(u, v *Node, w []*Node) *Node {
	h := d.Activate(u, w)
	return Mul(v, Sub(loop.Like(loop.Float(h, 1), h), Mul(h, h)))
}
func (d dense) Linearize(x *Node, w []*Node) (*Node, []*Node) {
	return d.Preactivation(x, w), []*Node{x}
}
func (dense) PullX(q *Node, _ []*Node, w []*Node) (*Node, []*Node) {
	return Dot(q, Transpose(w[0], 0, 1)).Product(), nil
}
func (dense) PullW(q *Node, _, tape, _ []*Node) []*Node {
	return []*Node{Dot(Transpose(tape[0], 0, 1), q).Product(), loop.Sum(q)}
}

const rows, width = 5, 3

// problem returns a random input X, a weight W with Frobenius norm 0.9, a bias b, and a cotangent of the result.
func problem(seed uint64) []*tensors.Tensor {
	rng := rand.New(rand.NewPCG(seed, 0))
	draw := func(scale float64, dims ...int) *tensors.Tensor {
		size := 1
		for _, d := range dims {
			size *= d
		}
		v, sum := make([]float32, size), 0.0
		for i := range v {
			v[i] = float32(rng.NormFloat64())
			sum += float64(v[i]) * float64(v[i])
		}
		for i := range v {
			v[i] *= float32(scale / math.Sqrt(sum))
		}
		return tensors.FromFlatDataAndDimensions(v, dims...)
	}
	return []*tensors.Tensor{draw(3, rows, width), draw(0.9, width, width), draw(0.3, width), draw(1, rows, width)}
}

type chain func(x *Node, w []*Node) (*Node, []*Node)

// run builds and runs the chain c, for the arrays args that [problem] returns: an input, a weight, a bias and a
// cotangent. It returns the chain's result, then the gradients with respect to input, weight and bias, and then the
// other values that the chain returns. The gradients are those of the inner product of result and cotangent.
func run(t *testing.T, e *engine.Engine, args []*tensors.Tensor, c chain) [][]float32 {
	t.Helper()
	exec, err := NewExec(e.Backend, func(in []*Node) []*Node {
		y, extra := c(in[0], in[1:3])
		grads := Gradient(ReduceAllSum(Mul(y, in[3])), in[0], in[1], in[2])
		return append(append([]*Node{y}, grads...), extra...)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	in := make([]any, len(args))
	for i, a := range args {
		in[i] = tensors.FromFlatDataAndDimensions(tensors.MustCopyFlatData[float32](a), a.Shape().Dimensions...)
	}
	out, err := exec.Call(in...)
	if err != nil {
		t.Fatal(err)
	}
	values := make([][]float32, len(out))
	for i, o := range out {
		if o.DType().IsInt() {
			values[i] = []float32{float32(tensors.ToScalar[int32](o))}
			continue
		}
		values[i] = tensors.MustCopyFlatData[float32](o)
	}
	return values
}

func distance(a, b []float32) float64 {
	var difference, size float64
	for i := range a {
		difference += math.Pow(float64(a[i]-b[i]), 2)
		size += math.Pow(float64(b[i]), 2)
	}
	return math.Sqrt(difference / max(size, 1e-30))
}

var tight = solve.Options{Tolerance: 1e-7, MaxIterations: 200, Order: 2}

func reverse(depth int, o solve.Options) chain {
	return func(x *Node, w []*Node) (*Node, []*Node) {
		return invert(dense{}, x, w, depth, o), nil
	}
}

// layer is a layer whose weights are a list.
type layer = solve.Layer[[]*Node]

// invert is the state that [solve.Invert] finds. unrolled changes the options, so that iterations are differentiated.
func invert(l layer, x *Node, w []*Node, depth int, o solve.Options) *Node {
	return solve.Invert(l, x, w, depth, o).Z
}

func unrolled(o solve.Options) solve.Options {
	o.Adjoint = solve.Unrolled
	return o
}

func forward(depth int) chain {
	return func(x *Node, w []*Node) (*Node, []*Node) {
		return solve.Forward(layer(dense{}), x, w, depth), nil
	}
}

func TestReverseUndoesForward(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		args := problem(1)
		out := run(t, e, args, func(x *Node, w []*Node) (*Node, []*Node) {
			y := solve.Forward(layer(dense{}), x, w, 6)
			return invert(dense{}, y, w, 6, tight), nil
		})
		if d := distance(out[0], tensors.MustCopyFlatData[float32](args[0])); d > 1e-5 {
			t.Errorf("g∘f moved the input by %.2g (relative)", d)
		}
		// Here f is the forward chain, and g is the reverse chain. Since g(f(x)) = x, the inner product of g(f(x)) and
		// the cotangent v is the inner product of x and v. Its gradient with respect to x is v.
		if d := distance(out[1], tensors.MustCopyFlatData[float32](args[3])); d > 1e-5 {
			t.Errorf("the gradient of the identity g∘f differs by %.2g", d)
		}
	})
}

func TestReverseGradientEqualsUnrolled(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		for _, depth := range []int{1, 2, 5, 130} {
			o := solve.Options{Tolerance: 1e-7, MaxIterations: 80}
			args := problem(2)
			if depth > 100 { // with weights of norm 0.9, such a long chain would amplify errors too much
				w := tensors.MustCopyFlatData[float32](args[1])
				for i := range w {
					w[i] /= 50
				}
				args[1] = tensors.FromFlatDataAndDimensions(w, width, width)
			}
			implicit := run(t, e, args, reverse(depth, o))
			byIterations := run(t, e, args, func(x *Node, w []*Node) (*Node, []*Node) {
				return invert(dense{}, x, w, depth, unrolled(o)), nil
			})
			for i, name := range []string{"result", "dx", "dW", "db"} {
				if d := distance(implicit[i], byIterations[i]); d > 2e-5 {
					t.Errorf("depth %d: %s differs by %.2g from the unrolled one", depth, name, d)
				}
			}
		}
	})
}

func TestForwardGradientEqualsUnrolled(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		for _, depth := range []int{1, 2, 3, 4, 7, 10} {
			checkpointed := run(t, e, problem(3), forward(depth))
			written := run(t, e, problem(3), func(x *Node, w []*Node) (*Node, []*Node) {
				for range depth {
					x = Add(x, dense{}.Activate(dense{}.Preactivation(x, w), w))
				}
				return x, nil
			})
			for i, name := range []string{"result", "dx", "dW", "db"} {
				if d := distance(checkpointed[i], written[i]); d > 1e-5 {
					t.Errorf("depth %d: %s differs by %.2g from the unrolled one", depth, name, d)
				}
			}
		}
	})
}

// The test computes the derivative of the inner product of result and cotangent, in a random direction of input, weight
// and bias. The derivative from the gradient equals the derivative from a central difference, up to a small error.
func TestGradientsEqualFiniteDifferences(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		for name, c := range map[string]chain{"forward": forward(5), "reverse": reverse(3, tight)} {
			slope, numeric := derivatives(t, e, c)
			if math.Abs(numeric-slope) > 2e-3*max(1, math.Abs(slope)) {
				t.Errorf("%s: derivative %.6f, finite difference %.6f", name, slope, numeric)
			}
		}
	})
}

func TestStats(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		solveWith := func(o solve.Options) []float32 {
			var got []float32
			out := run(t, e, problem(6), func(x *Node, w []*Node) (*Node, []*Node) {
				s := solve.Invert(layer(dense{}), x, w, 8, o)
				return s.Z, []*Node{s.Iterations, s.Residual, s.Layer}
			})
			for _, v := range out[4:] {
				got = append(got, v[0])
			}
			return got
		}
		plain := solveWith(solve.Options{Tolerance: 1e-6, MaxIterations: 100})
		if plain[0] < 8*3 || plain[0] > 8*99 || plain[1] >= 1e-6 {
			t.Errorf("iterations %v, residual %v: want some per layer and a residual below 1e-6", plain[0], plain[1])
		}
		if fewer := solveWith(solve.Options{Tolerance: 1e-6, MaxIterations: 100, Order: 2}); fewer[0] >= plain[0] {
			t.Errorf("an extrapolated start took %v iterations, without it %v", fewer[0], plain[0])
		}
		if cut := solveWith(solve.Options{Tolerance: 1e-6, MaxIterations: 2}); cut[0] != 16 ||
			cut[1] < 1e-6 || cut[2] > 7 {
			t.Errorf("at most 2 iterations in each of 8 layers: counted %v, residual %v in layer %v",
				cut[0], cut[1], cut[2])
		}
	})
}

func TestNaNEndsTheLoop(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		args := problem(7)
		bad := tensors.MustCopyFlatData[float32](args[0])
		bad[0] = float32(math.NaN())
		args[0] = tensors.FromFlatDataAndDimensions(bad, rows, width)
		out := run(t, e, args, func(x *Node, w []*Node) (*Node, []*Node) {
			s := solve.Invert(layer(dense{}), x, w, 4, solve.Options{Tolerance: 1e-6, MaxIterations: 1 << 30})
			return s.Z, []*Node{s.Iterations, s.Residual}
		})
		if out[4][0] != 4 || !math.IsNaN(float64(out[5][0])) {
			t.Errorf("with a NaN input: %v iterations, residual %v; want one per layer and NaN", out[4][0], out[5][0])
		}
	})
}

func TestDepthZeroIsTheIdentity(t *testing.T) {
	e := enginetest.Open(t, engine.Go)
	for _, c := range []chain{forward(0), reverse(0, tight)} {
		args := problem(8)
		if d := distance(run(t, e, args, c)[0], tensors.MustCopyFlatData[float32](args[0])); d != 0 {
			t.Errorf("no layers changed the input by %g", d)
		}
	}
}

// The gradient with respect to Stats.Adjoint is what the backward pass tells: iterations and the largest residual.
func TestAdjointStats(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		for _, o := range []solve.Options{tight, unrolled(tight)} {
			args := problem(9)
			exec, err := NewExec(e.Backend, func(x, w, b, v *Node) *Node {
				s := solve.Invert(layer(dense{}), x, []*Node{w, b}, 4, o)
				return Gradient(ReduceAllSum(Mul(s.Z, v)), x, s.Adjoint)[1]
			})
			if err != nil {
				t.Fatal(err)
			}
			defer exec.Finalize()
			out, err := exec.Call(args[0], args[1], args[2], args[3])
			if err != nil {
				t.Fatal(err)
			}
			told := tensors.MustCopyFlatData[float32](out[0])
			if told[0] < 4*2 || told[0] > 4*200 || !(told[1] < solve.AdjointFactor*1e-7) {
				t.Errorf("%q: the backward pass tells %v", o.Adjoint, told)
			}
		}
	})
}
