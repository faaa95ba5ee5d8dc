package solve

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
)

// Field is the right-hand side f of an ordinary differential equation dx/dt = f(t, x; w), with x of shape [n, d] and t
// a scalar. As in a [Layer], W is the Go type of the weights, and the methods keep to the rules of package loop.
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

// field is a Field whose weights are a list, the trainable ones first. (Methods, such as those of Method, cannot have
// type parameters.)
type field interface {
	Trainable() int
	Apply(t, x *Node, w []*Node) *Node
	Linearize(t, x *Node, w []*Node) (tape []*Node)
	PullX(v *Node, tape, w []*Node) *Node
	PullW(v *Node, tape, w []*Node) []*Node
}

// ofList is the field that takes its weights from a list, in place of a value like w.
type ofList[W any] struct {
	f     Field[W]
	w     W
	names weights
}

func (o ofList[W]) Trainable() int { return len(o.names.names) }

func (o ofList[W]) Apply(t, x *Node, w []*Node) *Node { return o.f.Apply(t, x, restored(o.w, w)) }

func (o ofList[W]) Linearize(t, x *Node, w []*Node) []*Node {
	return o.f.Linearize(t, x, restored(o.w, w))
}

func (o ofList[W]) PullX(v *Node, tape, w []*Node) *Node { return o.f.PullX(v, tape, restored(o.w, w)) }

func (o ofList[W]) PullW(v *Node, tape, w []*Node) []*Node {
	own := restored(o.w, w)
	return cotangentsOf(o.names, o.f.PullW(v, tape, own), own)
}

// linearOfList is the same for a [LinearField].
type linearOfList[W any] struct{ ofList[W] }

func (linearOfList[W]) Linear() {}

// Method is an explicit Runge-Kutta method, given by its coefficients (its Butcher tableau). A step of size h from the
// state x at time t evaluates the field f in several stages. The values k_i of the field are called slopes. The step
// leads to the state
//
//	x + h Σ_i B_i k_i,  k_i = f(t + C_i h, x + h Σ_j<i A_ij k_j).
//
// [Euler], [RK4] and [Dopri5] are the methods of the paper's experiments. Any other tableau works as well.
type Method struct {
	Name  string
	Order int
	C     []float64
	A     [][]float64
	B     []float64
	// Error, if it is not nil, makes the method adaptive: the method then chooses its step sizes, and h Σ_i Error_i k_i
	// is its estimate of a step's error. In an adaptive method the last stage must be the first stage of the next step.
	// This is so if the last row of A is B.
	Error []float64
	// Dense gives the state inside a step of an adaptive method. At the fraction θ of the step, from 0 to 1, the state
	// is x + h Σ_i k_i Σ_p Dense[i][p] θ^(p+1).
	Dense [][4]float64
}

// Adaptive tells whether the method chooses its step sizes itself.
func (m Method) Adaptive() bool { return m.Error != nil }

// MethodNames returns the names of the methods. MethodNamed returns the method that has the given name.
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
	// Step is the step size h of methods that are not adaptive. The steps begin at the times 0, h, 2h, …. The last step
	// ends at To, and may be shorter. (If To is negative, the times are 0, -h, -2h, ….)
	Step float64
	// AbsTol and RelTol are the tolerances of adaptive methods. Each entry of a step's estimated error is divided by
	// AbsTol + RelTol max(|x|, |x_next|), where x and x_next are the entries of the states before and after the step.
	// The step is accepted if the root mean square of these quotients is at most 1.
	AbsTol, RelTol float64
	// MaxEvaluations is the largest number of evaluations of the field f that the integration may take.
	MaxEvaluations int
}

// The outcomes of an integration, which are the values of Stats.Outcome. Reached means that the integration succeeded.
// The others say why it failed; see [Integration.Explain].
const (
	Reached = iota
	TooManyEvaluations
	StepTooSmall
	NotFinite
)

// Validate returns an error that names the first invalid setting. If the method has fixed steps and needs more than
// MaxEvaluations evaluations, this is an error, too.
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

// Explain returns a sentence that says why an integration with the given outcome failed, and what to change. For
// [Reached], it returns an empty string.
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
	nodes, _ := listed(w)
	_, _, known := weightsOf[W](nil, w, 0)
	var own field = ofList[W]{f, w, known}
	if _, linear := f.(interface{ Linear() }); linear {
		own = linearOfList[W]{ofList[W]{f, w, known}}
	}
	together := len(os) > 1
	for _, o := range os {
		if err := o.Validate(); err != nil {
			panic(err)
		}
		together = together && o.To != 0
		o.To = os[0].To
		together = together && reflect.DeepEqual(o, os[0])
	}
	adjoint := NoStats(x).Adjoint
	if together {
		return integrate(own, x, nodes, os, adjoint)
	}
	var out []Solution
	for _, o := range os {
		if o.To == 0 {
			still := NoStats(x)
			still.Adjoint = adjoint
			out = append(out, Solution{x, still})
		} else {
			out = append(out, integrate(own, x, nodes, []Integration{o}, adjoint)...)
		}
	}
	return out
}

// integrate is [IntegrateAll] for integrations whose settings differ only in To.
func integrate(f field, x *Node, w []*Node, os []Integration, adjoint *Node) []Solution {
	if os[0].Method.Adaptive() {
		return integrateAdaptive(f, x, w, os, adjoint)
	}
	return integrateFixed(f, x, w, os, adjoint)
}

// stages is the number of stages that the result of a step depends on. It leaves out the stages at the end whose weight
// in B is 0.
func (m Method) stages() int {
	n := len(m.B)
	for n > 1 && m.B[n-1] == 0 {
		n--
	}
	return n
}

// without returns the method without the stages at the end that the result of a step does not depend on.
func (m Method) without() Method {
	n := m.stages()
	m.C, m.B, m.A = m.C[:n], m.B[:n], slices.Clone(m.A[:n])
	for i := range m.A {
		m.A[i] = m.A[i][:n]
	}
	return m
}
