package solve_test

import (
	"math"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/solve"
)

// swing is the field f(t, X) = tanh(X W + b + t), with a derivative written by hand. It is nonlinear and depends on
// time.
type swing struct{}

func (swing) Apply(t, x *Node, w []*Node) *Node {
	u := Add(Dot(x, w[0]).Product(), BroadcastToShape(Reshape(w[1], 1, w[1].Shape().Size()), x.Shape()))
	return Tanh(Add(u, loop.Like(t, u)))
}

func (s swing) Linearize(t, x *Node, w []*Node) []*Node {
	f := s.Apply(t, x, w)
	return []*Node{x, Sub(loop.Like(loop.Float(f, 1), f), Mul(f, f))}
}

func (swing) PullX(v *Node, tape, w []*Node) *Node {
	dx, _ := dense{}.PullX(Mul(v, tape[1]), tape, w)
	return dx
}
func (swing) PullW(v *Node, tape, w []*Node) []*Node {
	return dense{}.PullW(Mul(v, tape[1]), nil, tape, w)
}

// circle is dx/dt = (-x_1, x_0, 3 t^2), a field without weights. Its solution is known: at time t, (x_0, x_1) has been
// rotated by the angle t, and t^3 has been added to x_2.
type circle struct{}

func (circle) Apply(t, x *Node, _ []*Node) *Node {
	climb := Mul(Mul(t, t), loop.Float(t, 3))
	zero := loop.Zeros(Slice(x, AxisRange(), AxisElem(2)))
	x0, x1 := Slice(x, AxisRange(), AxisElem(0)), Slice(x, AxisRange(), AxisElem(1))
	return Concatenate([]*Node{Sub(zero, x1), x0, loop.Like(climb, zero)}, 1)
}
func (circle) Linearize(*Node, *Node, []*Node) []*Node { return nil }
func (circle) PullX(v *Node, _, _ []*Node) *Node       { panic("not used") }
func (circle) PullW(*Node, []*Node, []*Node) []*Node   { panic("not used") }

// pole is the field dx/dt = 1 / (2-t^2)^2. Its solution goes to infinity at t = sqrt 2. No floating-point number equals
// sqrt 2, so the field is never evaluated exactly at this time.
type pole struct{ circle }

func (pole) Apply(t, x *Node, _ []*Node) *Node {
	s := Sub(loop.Float(t, 2), Mul(t, t))
	return loop.Like(Div(loop.Float(t, 1), Mul(s, s)), x)
}

// turned integrates the field circle. It returns the largest error of the state at time o.To, the number of evaluations
// and the outcome.
func turned(t *testing.T, e *engine.Engine, o solve.Integration) (err float64, evaluations, outcome int32) {
	t.Helper()
	return follow(t, e, circle{}, o)
}

// field is a field whose weights are a list.
type field = solve.Field[[]*Node]

func follow(t *testing.T, e *engine.Engine, f field, o solve.Integration) (err float64, evals, outcome int32) {
	t.Helper()
	exec, fail := NewExec(e.Backend, func(x *Node) []*Node {
		s := solve.Integrate(f, x, nil, o)
		return []*Node{s.Z, s.Iterations, s.Outcome}
	})
	if fail != nil {
		t.Fatal(fail)
	}
	defer exec.Finalize()
	out, fail := exec.Call(tensors.FromFlatDataAndDimensions([]float64{1, 0, 0.5, 0, 2, 0}, 2, 3))
	if fail != nil {
		t.Fatal(fail)
	}
	y := tensors.MustCopyFlatData[float64](out[0])
	cos, sin, climb := math.Cos(o.To), math.Sin(o.To), math.Pow(o.To, 3)
	for i, want := range []float64{cos, sin, 0.5 + climb, -2 * sin, 2 * cos, climb} {
		err = math.Max(err, math.Abs(y[i]-want))
	}
	return err, tensors.ToScalar[int32](out[1]), tensors.ToScalar[int32](out[2])
}

// Halving the step size divides the error by 2^order, in both directions of time.
func TestOrderOfConvergence(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		fifth := solve.Dopri5()
		fifth.Name, fifth.Error = "dopri5 with fixed steps", nil
		for _, m := range []solve.Method{solve.Euler(), solve.RK4(), fifth} {
			for _, to := range []float64{2, -2} {
				o := solve.Integration{Method: m, To: to, MaxEvaluations: 10000}
				o.Step = 0.25
				coarse, n, _ := turned(t, e, o)
				o.Step = 0.125
				fine, n2, _ := turned(t, e, o)
				if order := math.Log2(coarse / fine); math.Abs(order-float64(m.Order)) > 0.4 || n2 != 2*n {
					t.Errorf("%s to %g: errors %.2g and %.2g with %d and %d evaluations: order %.2f, want %d",
						m.Name, to, coarse, fine, n, n2, order, m.Order)
				}
			}
		}
	})
}

// The number of evaluations and the error are within the expected limits. Some integrations have fixed steps, of which
// the last is shorter. Others are adaptive, with different tolerances.
func TestIntegrationAccuracy(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		for _, c := range []struct {
			o      solve.Integration
			atMost float64
			evals  [2]int32
		}{
			{solve.Integration{Method: solve.RK4(), To: 1.1, Step: 0.25}, 1e-4, [2]int32{20, 20}},
			{solve.Integration{Method: solve.RK4(), To: 1.1, Step: 7}, 1e-1, [2]int32{4, 4}},
			{solve.Integration{Method: solve.Euler(), To: 0, Step: 1}, 0, [2]int32{0, 0}},
			{solve.Integration{Method: solve.Dopri5(), To: 3, AbsTol: 1e-6, RelTol: 1e-6}, 1e-5, [2]int32{30, 200}},
			{solve.Integration{Method: solve.Dopri5(), To: -3, AbsTol: 1e-9, RelTol: 1e-9}, 1e-8, [2]int32{100, 700}},
			{solve.Integration{Method: solve.Dopri5(), To: 1e-9, AbsTol: 1e-6}, 1e-12, [2]int32{8, 8}},
		} {
			c.o.MaxEvaluations = 1000
			err, n, outcome := turned(t, e, c.o)
			t.Logf("%s to %g: error %.2g, %d evaluations", c.o.Method.Name, c.o.To, err, n)
			if outcome != solve.Reached || !(err <= c.atMost) || n < c.evals[0] || n > c.evals[1] {
				t.Errorf("%s to %g: outcome %d, error %.2g with %d evaluations; want at most %g with %v",
					c.o.Method.Name, c.o.To, outcome, err, n, c.atMost, c.evals)
			}
		}
	})
}

// Every kind of failure ends the integration with its own outcome. Invalid settings are refused.
func TestIntegrationOutcomes(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		tiny := solve.Integration{Method: solve.Dopri5(), To: 3, AbsTol: 1e-12, MaxEvaluations: 50}
		if _, n, outcome := turned(t, e, tiny); outcome != solve.TooManyEvaluations || n > 50 {
			t.Errorf("a limit of 50 evaluations: outcome %d after %d", outcome, n)
		}
		tiny.AbsTol, tiny.RelTol, tiny.MaxEvaluations = 1e-3, 1e-3, 5000
		if _, n, outcome := follow(t, e, pole{}, tiny); outcome != solve.StepTooSmall {
			t.Errorf("a pole on the way: outcome %d after %d", outcome, n)
		}
		tiny.AbsTol, tiny.RelTol = math.SmallestNonzeroFloat64, 0
		if _, n, outcome := turned(t, e, tiny); outcome != solve.NotFinite {
			t.Errorf("an overflow: outcome %d after %d", outcome, n)
		}
		for outcome := solve.Reached; outcome <= solve.NotFinite; outcome++ {
			if s := tiny.Explain(outcome); (s == "") != (outcome == solve.Reached) {
				t.Errorf("outcome %d is explained as %q", outcome, s)
			}
		}
	})
	for want, o := range map[string]solve.Integration{
		"no solver":       {},
		"finite":          {Method: solve.RK4(), To: math.NaN()},
		"max-evaluations": {Method: solve.RK4(), To: 1, Step: 1},
		"step is 0":       {Method: solve.RK4(), To: 1, MaxEvaluations: 9},
		"more than":       {Method: solve.RK4(), To: 3, Step: 1, MaxEvaluations: 9},
		"tolerances":      {Method: solve.Dopri5(), To: 3, MaxEvaluations: 9},
		"first step":      {Method: solve.Dopri5(), To: 3, AbsTol: 1, MaxEvaluations: 7},
	} {
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want an error with %q", o, err, want)
		}
	}
	if _, err := solve.MethodNamed("rk5"); err == nil {
		t.Error("rk5 was accepted")
	}
}

func integrate(o solve.Integration) chain {
	o.MaxEvaluations = 1000
	return func(x *Node, w []*Node) (*Node, []*Node) {
		s := solve.Integrate(field(swing{}), x, w, o)
		return s.Z, []*Node{s.Iterations, s.Outcome}
	}
}

var integrations = map[string]solve.Integration{
	"euler":  {Method: solve.Euler(), To: 1.1, Step: 0.1},
	"rk4":    {Method: solve.RK4(), To: -1.3, Step: 0.25},
	"dopri5": {Method: solve.Dopri5(), To: 2, AbsTol: 1e-4, RelTol: 1e-4},
	"back":   {Method: solve.Dopri5(), To: -1.5, AbsTol: 1e-6, RelTol: 1e-6},
}

func TestThereAndBack(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		for _, m := range []solve.Integration{{Method: solve.RK4(), Step: 0.05},
			{Method: solve.Dopri5(), AbsTol: 1e-6}} {
			out := run(t, e, problem(11), func(x *Node, w []*Node) (*Node, []*Node) {
				there, back := m, m
				there.To, back.To, there.MaxEvaluations, back.MaxEvaluations = 2, -2, 1000, 1000
				// Each integration begins at time 0. So the second one goes from time 0 to -2, and not from 2 back
				// to 0. Nevertheless it undoes the first one, since the field does not depend on time.
				y := solve.Integrate(field(still{}), x, w, there).Z
				return solve.Integrate(field(still{}), y, w, back).Z, nil
			})
			if d := distance(out[0], tensors.MustCopyFlatData[float32](problem(11)[0])); d > 1e-5 {
				t.Errorf("%s there and back moved the start by %.2g (relative)", m.Method.Name, d)
			}
			if d := distance(out[1], tensors.MustCopyFlatData[float32](problem(11)[3])); d > 1e-4 {
				t.Errorf("%s: the gradient of the identity differs by %.2g", m.Method.Name, d)
			}
		}
	})
}

// still is the field swing with its time fixed at 0, so that it does not depend on time.
type still struct{ swing }

func (s still) Apply(t, x *Node, w []*Node) *Node { return s.swing.Apply(loop.Float(x, 0), x, w) }
func (s still) Linearize(t, x *Node, w []*Node) []*Node {
	return s.swing.Linearize(loop.Float(x, 0), x, w)
}

// An integration with fixed steps has the same result and gradient as the function [written], which writes all steps
// into the program one by one. GoMLX differentiates these steps itself.
func TestIntegrationGradientEqualsUnrolled(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		for _, name := range []string{"euler", "rk4"} {
			o := integrations[name]
			byHand := run(t, e, problem(12), integrate(o))
			unrolled := run(t, e, problem(12), func(x *Node, w []*Node) (*Node, []*Node) {
				return written(o, x, w), nil
			})
			for i, what := range []string{"result", "dx", "dW", "db"} {
				if d := distance(byHand[i], unrolled[i]); d > 1e-5 {
					t.Errorf("%s: %s differs by %.2g from the unrolled one", name, what, d)
				}
			}
		}
	})
}

// written integrates the field [swing] with fixed steps. It writes all steps into the program one by one, so that the
// program has no loop.
func written(o solve.Integration, x *Node, w []*Node) *Node {
	m := o.Method
	sign := math.Copysign(1, o.To)
	for t := 0.0; t < math.Abs(o.To)-1e-9; t += o.Step {
		h := sign * min(o.Step, math.Abs(o.To)-t)
		var k []*Node
		for i := range m.B {
			u := x
			for j := range i {
				u = Add(u, MulScalar(k[j], h*m.A[i][j]))
			}
			k = append(k, swing{}.Apply(Const(x.Graph(), float32(sign*t+m.C[i]*h)), u, w))
		}
		for i := range k {
			x = Add(x, MulScalar(k[i], h*m.B[i]))
		}
	}
	return x
}

// An adaptive integration with a small tolerance has about the same result and gradient as an integration with many
// small steps of fixed size.
func TestAdaptiveGradientEqualsFine(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		for _, to := range []float64{2, -2} {
			fine := run(t, e, problem(13), integrate(solve.Integration{Method: solve.RK4(), To: to, Step: 0.02}))
			for _, tolerance := range []float64{1e-6, 1e-4} {
				o := solve.Integration{Method: solve.Dopri5(), To: to, AbsTol: tolerance, RelTol: tolerance}
				adaptive := run(t, e, problem(13), integrate(o))
				for i, what := range []string{"result", "dx", "dW", "db"} {
					if d := distance(adaptive[i], fine[i]); d > 20*tolerance {
						t.Errorf("to %g with tolerance %g: %s differs by %.2g", to, tolerance, what, d)
					}
				}
				t.Logf("to %g with tolerance %g: %v evaluations", to, tolerance, adaptive[4])
			}
		}
	})
}

func TestIntegrationGradientEqualsFiniteDifferences(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		for name, o := range integrations {
			slope, numeric := derivatives(t, e, integrate(o))
			if math.Abs(numeric-slope) > 2e-3*max(1, math.Abs(slope)) {
				t.Errorf("%s: derivative %.6f, finite difference %.6f", name, slope, numeric)
			}
		}
	})
}

// derivatives computes the derivative of the inner product of the chain's result and a fixed cotangent. It is the
// derivative in a random direction of input, weight and bias. The result slope is computed from the gradient, and the
// result numeric by a central difference.
func derivatives(t *testing.T, e *engine.Engine, c chain) (slope, numeric float64) {
	t.Helper()
	return derivativesAt(t, e, problem(4), problem(5), c)
}

// derivativesAt is [derivatives] at the given inputs args. The argument along is the direction, with an array for each
// input.
func derivativesAt(t *testing.T, e *engine.Engine, args, along []*tensors.Tensor, c chain) (slope, numeric float64) {
	t.Helper()
	value := func(step float32) (sum float64) {
		moved := make([]*tensors.Tensor, len(args))
		for i, a := range args {
			v := tensors.MustCopyFlatData[float32](a)
			if i < 3 {
				for k, d := range tensors.MustCopyFlatData[float32](along[i]) {
					v[k] += step * d
				}
			}
			moved[i] = tensors.FromFlatDataAndDimensions(v, a.Shape().Dimensions...)
		}
		y := run(t, e, moved, c)[0]
		for i, v := range tensors.MustCopyFlatData[float32](args[3]) {
			sum += float64(v) * float64(y[i])
		}
		return sum
	}
	grads := run(t, e, args, c)[1:]
	for i := range 3 {
		for k, d := range tensors.MustCopyFlatData[float32](along[i]) {
			slope += float64(d) * float64(grads[i][k])
		}
	}
	const step = 5e-3
	return slope, (value(step) - value(-step)) / (2 * step)
}
