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

// mix is the linear field f(X) = X W + X diag(b).
type mix struct{}

func (mix) Linear() {}

func (mix) Apply(_, x *Node, w []*Node) *Node {
	return Add(Dot(x, w[0]).Product(), Mul(x, spread(w[1], x)))
}

func (mix) Linearize(_, x *Node, _ []*Node) []*Node { return []*Node{x} }

func (mix) PullX(v *Node, _, w []*Node) *Node {
	return Add(Dot(v, Transpose(w[0], 0, 1)).Product(), Mul(v, spread(w[1], v)))
}

func (mix) PullW(v *Node, tape, _ []*Node) []*Node {
	return []*Node{Dot(Transpose(tape[0], 0, 1), v).Product(), loop.Sum(Mul(v, tape[0]))}
}

func spread(b, x *Node) *Node {
	return BroadcastToShape(Reshape(b, 1, b.Shape().Size()), x.Shape())
}

// plain hides the method Linear of a linear field. So package solve does not see that the field is linear.
type plain struct{ solve.Field[[]*Node] }

// For a linear field, a step is computed as a polynomial in the linear operator (see [solve.LinearField]). Results and
// gradients are the same as if the step were computed stage by stage.
func TestLinearFieldEqualsStages(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		for name, o := range integrations {
			o.MaxEvaluations = 1000
			both := func(f field) [][]float32 {
				return run(t, e, problem(21), func(x *Node, w []*Node) (*Node, []*Node) {
					s := solve.Integrate(f, x, w, o)
					return s.Z, []*Node{s.Outcome}
				})
			}
			linear, stages := both(mix{}), both(plain{mix{}})
			for i, what := range []string{"result", "dx", "dW", "db", "outcome"} {
				if d := distance(linear[i], stages[i]); d > 1e-5 {
					t.Errorf("%s: %s differs by %.2g from that of the stages", name, what, d)
				}
			}
		}
	})
}

// IntegrateAll has the same results and gradients as a call of Integrate for each integration. This is tested for a
// nonlinear field and a linear one, and for integrations by the same method and by different methods.
func TestIntegrateAllEqualsEach(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		for _, f := range []field{swing{}, mix{}} {
			for _, names := range [][]string{{"rk4", "rk4 there"}, {"rk4", "euler", "nowhere"}, {"rk4", "dopri5"},
				{"rk4", "rk4 back"}, {"dopri5", "dopri5 back"}} { // integrations of the last two lists share a loop
				var os []solve.Integration
				for _, name := range names {
					method, back := strings.CutSuffix(name, " back")
					o := integrations[method]
					if back {
						o.To *= -0.6
					}
					switch name {
					case "rk4 there":
						o = solve.Integration{Method: solve.RK4(), To: 0.9, Step: 0.4}
					case "nowhere":
						o = solve.Integration{Method: solve.RK4(), Step: 0.4}
					}
					o.MaxEvaluations = 1000
					os = append(os, o)
				}
				sum := func(ends []solve.Solution) *Node {
					y := ends[0].Z
					for i, end := range ends[1:] {
						y = Add(y, MulScalar(end.Z, float64(i+2)))
					}
					return y
				}
				together := run(t, e, problem(22), func(x *Node, w []*Node) (*Node, []*Node) {
					return sum(solve.IntegrateAll(f, x, w, os...)), nil
				})
				each := run(t, e, problem(22), func(x *Node, w []*Node) (*Node, []*Node) {
					var ends []solve.Solution
					for _, o := range os {
						ends = append(ends, solve.Integrate(f, x, w, o))
					}
					return sum(ends), nil
				})
				for i, what := range []string{"result", "dx", "dW", "db"} {
					if d := distance(together[i], each[i]); d > 1e-6 {
						t.Errorf("%T, %v: %s differs by %.2g", f, names, what, d)
					}
				}
			}
		}
	})
}

// With W = 0, the field [mix] is x' = b x. The test integrates it over two legs: one forwards and one backwards in
// time. The legs have so many steps that only checkpoints are kept. Results and gradients are compared with those of a
// formula: n steps of size h by Euler's method multiply x by (1 + h b)^n.
func TestCheckpointsOfLegs(t *testing.T) {
	e := enginetest.Open(t, engine.CPU)
	const n, d, step = 4096, 32, 0.01
	counts := []int{150, 70}
	if solve.Segment(4*n*d, counts[0]) == 1 {
		t.Fatal("all states are kept: take more steps")
	}
	rate := make([]float32, d)
	for k := range rate {
		rate[k] = float32(k)/d - 0.5
	}
	args := []*tensors.Tensor{tensors.FromFlatDataAndDimensions(ramp(n*d), n, d),
		tensors.FromFlatDataAndDimensions(make([]float32, d*d), d, d),
		tensors.FromFlatDataAndDimensions(rate, d), tensors.FromFlatDataAndDimensions(ramp(n*d), n, d)}
	got := run(t, e, args, func(x *Node, w []*Node) (*Node, []*Node) {
		var os []solve.Integration
		for l, count := range counts {
			to := step * float64(count) * float64(1-2*l)
			os = append(os, solve.Integration{Method: solve.Euler(), To: to, Step: step, MaxEvaluations: 1000})
		}
		ends := solve.IntegrateAll(field(mix{}), x, w, os...)
		return Add(ends[0].Z, ends[1].Z), nil
	})
	x := ramp(n * d)
	wantY, wantB := make([]float32, n*d), make([]float64, d)
	for i := range wantY {
		b := float64(rate[i%d])
		for l, count := range counts {
			h := step * float64(1-2*l)
			wantY[i] += float32(float64(x[i]) * math.Pow(1+h*b, float64(count)))
			wantB[i%d] += float64(x[i]) * float64(x[i]) * float64(count) * h * math.Pow(1+h*b, float64(count-1))
		}
	}
	db := make([]float32, d)
	for k := range db {
		db[k] = float32(wantB[k])
	}
	// Each entry of the result is the same entry of x times a factor. The gradient dx is the cotangent of the result,
	// entry by entry times the same factors. In this test the cotangent equals x, so dx equals the result. dW is not
	// compared.
	for i, want := range [][]float32{wantY, wantY, nil, db} {
		if want != nil && distance(got[i], want) > 1e-4 {
			t.Errorf("%s differs by %.2g", []string{"result", "dx", "dW", "db"}[i], distance(got[i], want))
		}
	}
}

// ramp returns n evenly spaced numbers from -1 to almost 1.
func ramp(n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = 2*float32(i)/float32(n) - 1
	}
	return v
}
