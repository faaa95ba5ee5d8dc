package solve

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Field is the right-hand side f of dx/dt = f(t, x; w), with x of shape [n, d] and a scalar t. As in a [Layer], W is
// the Go type of the weights, and the methods keep to the rules of package loop.
type Field[W any] interface {
	// Apply is f(t, x; w).
	Apply(t, x *Node, w W) *Node
	// Linearize returns the arrays that PullX and PullW need to differentiate f at (t, x).
	Linearize(t, x *Node, w W) (tape []*Node)
	// PullX is (∂f/∂x)^T v.
	PullX(v *Node, tape []*Node, w W) *Node
	// PullW has (∂f/∂w)^T v in the place of each trainable weight.
	PullW(v *Node, tape []*Node, w W) W
}

// Method is an explicit Runge-Kutta method, given by its Butcher tableau: a step of size h from the state x at time t
// leads to
//
//	x + h Σ_i B_i k_i,  k_i = f(t + C_i h, x + h Σ_j<i A_ij k_j),
//
// where the k_i are called slopes. [Euler], [RK4] and [Dopri5] are those of the paper's experiments.
type Method struct {
	Name  string
	Order int
	C     []float64
	A     [][]float64
	B     []float64
	// Error, if not nil, makes the method adaptive: it chooses its step sizes, and h Σ_i Error_i k_i estimates a step's
	// error. The last stage must then be the first one of the next step, as if the last row of A is B.
	Error []float64
	// Dense gives the state at the fraction θ of a step of an adaptive method: x + h Σ_i k_i Σ_p Dense[i][p] θ^(p+1).
	Dense [][4]float64
}

func (m Method) Adaptive() bool { return m.Error != nil }

func MethodNames() []string { return []string{"euler", "rk4", "dopri5"} }

func MethodNamed(name string) (Method, error) {
	for _, m := range []Method{Euler(), RK4(), Dopri5()} {
		if m.Name == name {
			return m, nil
		}
	}
	return Method{}, fmt.Errorf("unknown solver %q: choose one of %v", name, MethodNames())
}

// Integration says how to integrate from time 0 to time To, which may be negative.
type Integration struct {
	Method Method
	To     float64
	// Step is the step size of methods that are not adaptive. The last step, which ends at To, may be shorter.
	Step float64
	// AbsTol and RelTol are the tolerances of adaptive methods. A step is accepted if the root mean square of its
	// error's entries, divided by AbsTol + RelTol max(|x|, |x_next|), is at most 1.
	AbsTol, RelTol float64
	MaxEvaluations int
}

// The outcomes of an integration, values of Stats.Outcome: success, and the reasons that [Integration.Explain]
// explains.
const (
	Reached = iota
	TooManyEvaluations
	StepTooSmall
	NotFinite
)

// Validate names the first invalid setting. Too many evaluations for fixed steps are an error, too.
func (o Integration) Validate() error {
	switch m := o.Method; {
	case len(m.B) == 0:
		return fmt.Errorf("no solver given: choose one of %v", MethodNames())
	case math.IsNaN(o.To) || math.IsInf(o.To, 0):
		return fmt.Errorf("the time to integrate to is %g: choose a finite number", o.To)
	case o.MaxEvaluations < 1:
		return fmt.Errorf("max-evaluations is %d: choose 1 at least", o.MaxEvaluations)
	case m.Adaptive() && o.MaxEvaluations < len(m.B)+1:
		return fmt.Errorf("max-evaluations is %d, but the first step of %s takes %d: choose a higher limit",
			o.MaxEvaluations, m.Name, len(m.B)+1)
	case m.Adaptive() && !(o.AbsTol >= 0 && o.RelTol >= 0 && o.AbsTol+o.RelTol > 0):
		return fmt.Errorf("the tolerances are %g and %g: choose positive numbers", o.AbsTol, o.RelTol)
	case !m.Adaptive() && !(o.Step > 0):
		return fmt.Errorf("step is %g: choose a positive number", o.Step)
	case !m.Adaptive() && o.steps()*float64(m.stages()) > float64(o.MaxEvaluations):
		return fmt.Errorf("%s with steps of %g to time %g takes %.0f evaluations, more than the limit of %d: "+
			"choose a larger step or a higher limit",
			m.Name, o.Step, o.To, o.steps()*float64(m.stages()), o.MaxEvaluations)
	}
	return nil
}

// Explain says why an integration failed, and what to change, or "" for [Reached].
func (o Integration) Explain(outcome int) string {
	switch outcome {
	case Reached:
		return ""
	case TooManyEvaluations:
		return fmt.Sprintf("%s did not reach time %g within %d evaluations: "+
			"raise --tol-scale or --max-evaluations, or shorten the time",
			o.Method.Name, o.To, o.MaxEvaluations)
	case StepTooSmall:
		return fmt.Sprintf("%s could not meet its tolerance with any step on the way to time %g: raise --tol-scale",
			o.Method.Name, o.To)
	}
	return fmt.Sprintf("the state was not finite on the way to time %g: shorten the time or lower --lr", o.To)
}

// Integrate solves dx/dt = f(t, x; w) from the state x at time 0 to time o.To, and returns the state at o.To. It is
// differentiable in x and the trainable weights: by the exact gradient of the computed steps, whose sizes count as
// constants ("discretise, then optimise"). All states are kept for the backward pass if they fit into 64 MiB, else
// about 2 sqrt(steps) of them, and the others are computed again.
//
// Stats.Iterations is the number of evaluations of f. If Stats.Outcome is not [Reached], the result is not valid.
// Integrate panics if o is not valid.
func Integrate[W any](f Field[W], x *Node, w W, o Integration) Solution {
	return IntegrateAll(f, x, w, o)[0]
}

// IntegrateAll is [Integrate] for several integrations from the same x. If they differ only in To, they run in one
// loop, so that the field is compiled once. Their solutions share Stats.Adjoint.
func IntegrateAll[W any](f Field[W], x *Node, w W, os ...Integration) []Solution {
	_, trainable, known := weightsOf[W](nil, w, 0)
	_, linear := f.(LinearField[W])
	all := integration[W]{f, linear, known, trainable, x, w, NoStats(x).Adjoint}
	together := len(os) > 1
	for _, o := range os {
		if err := o.Validate(); err != nil {
			panic(err)
		}
		together = together && o.To != 0
		o.To = os[0].To
		together = together && reflect.DeepEqual(o, os[0])
	}
	groups := slices.Collect(slices.Chunk(os, 1))
	if together {
		groups = [][]Integration{os}
	}
	var out []Solution
	for _, legs := range groups {
		switch {
		case legs[0].To == 0:
			none := NoStats(x)
			none.Adjoint = all.adjoint
			out = append(out, Solution{x, none})
		case legs[0].Method.Adaptive():
			out = append(out, all.adaptive(legs)...)
		default:
			out = append(out, all.fixed(legs)...)
		}
	}
	return out
}

// integration is what integrations with the same field and start have in common.
type integration[W any] struct {
	field     Field[W]
	linear    bool
	known     weights
	trainable []*Node
	x         *Node
	w         W
	adjoint   *Node
}

// fixed runs integrations with fixed steps in one loop.
func (a integration[W]) fixed(os []Integration) (out []Solution) {
	m := stepper[W]{os[0].Method.without(), a}
	x := a.x
	var times, sizes []float64
	counts := make([]int, len(os))
	most := 0
	for l, o := range os {
		count := int(o.steps())
		h := math.Copysign(o.Step, o.To)
		for i := range count - 1 {
			times, sizes = append(times, float64(i)*h), append(sizes, h)
		}
		times, sizes = append(times, float64(count-1)*h), append(sizes, o.To-float64(count-1)*h)
		counts[l] = count
		most = max(most, count)
	}
	weights := BroadcastToDims(row(vector(x, m.B)), len(times), len(m.B))
	reads := m.reads(stopped(a.w), grid{vector(x, times), vector(x, sizes), weights})
	steps := m.steps(segmentOf(x, most))
	steps.adjoint, steps.told = a.adjoint, pair(loop.Int(x.Graph(), len(times)*m.stages()), loop.Float(x, 0))
	all := steps.run(x, a.trainable, reads, counts...)
	for l, count := range counts {
		s := NoStats(x)
		s.Iterations, s.Adjoint = loop.Int(x.Graph(), count*m.stages()), a.adjoint
		out = append(out, Solution{element(all, l), s})
	}
	return out
}

// steps is |To| / Step, rounded up, and at least 1. Without 1e-6, rounding errors could add a tiny last step.
func (o Integration) steps() float64 { return max(1, math.Ceil(math.Abs(o.To)/o.Step-1e-6)) }

// stages leaves out stages at the end whose weight in B is 0.
func (m Method) stages() int {
	n := len(m.B)
	for n > 1 && m.B[n-1] == 0 {
		n--
	}
	return n
}

// without leaves them out of the method.
func (m Method) without() Method {
	n := m.stages()
	m.C, m.B, m.A = m.C[:n], m.B[:n], slices.Clone(m.A[:n])
	for i := range m.A {
		m.A[i] = m.A[i][:n]
	}
	return m
}
