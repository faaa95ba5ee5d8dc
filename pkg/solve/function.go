package solve

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// FromFunction makes a [Block] from h(x, w), which returns a node of x's shape. GoMLX differentiates h. The argument
// trainable is the number of weights that receive gradients. They must be the first entries of w.
//
// h may use all operations of GoMLX except those that [loop.Differentiable] excludes. h must use no nodes that were
// made outside h, except its arguments. For a [ReverseChain], the Lipschitz constant of h in x must be below 1. A
// [Block] written by hand is faster if it uses what GoMLX does not know. Examples are a cheap formula for the
// derivative of the activation, and results that the derivatives with respect to x and w share.
func FromFunction(trainable int, h func(x *Node, w []*Node) *Node) Block {
	return function{trainable, func(x *Node, w []*Node) differentiable {
		f := func(in []*Node) *Node { return alike("h", h(in[0], in[1:]), in[0]) }
		return loop.Differentiate(f, arguments(x, w), 1+trainable)
	}}
}

// FromVJP makes a [Block] from h(x, w) and its vector-Jacobian products. The argument trainable is the number of
// trainable weights, which must be the first entries of w. Given the cotangent v of h's result, the function pull
// returns dx = (∂h/∂x)^T v, and dw = (∂h/∂w)^T v for the trainable weights. The functions h and pull are called inside
// loop bodies, and must keep to the rules of package loop.
func FromVJP(trainable int, h func(x *Node, w []*Node) *Node,
	pull func(x, v *Node, w []*Node) (dx *Node, dw []*Node)) Block {
	return function{trainable, func(*Node, []*Node) differentiable {
		return byHand{
			f: func(in []*Node) *Node { return alike("h", h(in[0], in[1:]), in[0]) },
			pull: func(x, v *Node, w []*Node) []*Node {
				dx, dw := pull(x, v, w)
				return checked(dx, dw, x, w[:trainable])
			},
		}
	}}
}

// differentiable is a function with its vector-Jacobian products. Its inputs are a list, in which x is the first. Value
// returns the function's result, and Linearize returns the result y and a tape. Given the cotangent v of y, Pull
// returns the cotangents of x and of the trainable weights. The argument others of Pull has all inputs except x.
// [loop.Differentiable] implements this interface.
type differentiable interface {
	Value(in []*Node) *Node
	Linearize(in []*Node) (y *Node, tape []*Node)
	Pull(v *Node, tape, others []*Node) []*Node
}

// function is a block without activation: σ(u) = u, so that h = u. Its field of is a Go function that returns h with
// its derivatives. This Go function uses only the shapes of its arguments x and w, not their values.
type function struct {
	trainable int
	of        func(x *Node, w []*Node) differentiable
}

func (f function) Trainable() int { return f.trainable }

func (f function) Preactivation(x *Node, w []*Node) *Node { return f.of(x, w).Value(arguments(x, w)) }

func (f function) Activate(u *Node, _ []*Node) *Node { return u }
func (f function) Gate(_, v *Node, _ []*Node) *Node  { return v }

func (f function) Linearize(x *Node, w []*Node) (*Node, []*Node) {
	return f.of(x, w).Linearize(arguments(x, w))
}

func (f function) PullX(q *Node, tape, w []*Node) (*Node, []*Node) {
	return f.of(q, w).Pull(q, tape, w)[0], nil
}

func (f function) PullW(q *Node, _, tape, w []*Node) []*Node {
	return f.of(q, w).Pull(q, tape, w)[1:]
}

// byHand is a function f with its derivative, the function pull, which is written by hand. The tape holds only x.
type byHand struct {
	f    func(in []*Node) *Node
	pull func(x, v *Node, others []*Node) []*Node
}

func (b byHand) Value(in []*Node) *Node                     { return b.f(in) }
func (b byHand) Linearize(in []*Node) (*Node, []*Node)      { return b.f(in), in[:1] }
func (b byHand) Pull(v *Node, tape, others []*Node) []*Node { return b.pull(tape[0], v, others) }

// arguments returns a list of x and others.
func arguments(x *Node, others []*Node) []*Node { return append([]*Node{x}, others...) }

// alike returns y, and panics unless y has x's shape. The first argument is what the error message calls y.
func alike(what string, y, x *Node) *Node {
	if !y.Shape().Equal(x.Shape()) {
		panic(fmt.Errorf("package solve: %s has shape %s: return a node of shape %s", what, y.Shape(), x.Shape()))
	}
	return y
}

// checked returns a list of the cotangents dx and dw. It panics unless there is a cotangent for each weight in w and
// all cotangents have the shapes of x and of the weights.
func checked(dx *Node, dw []*Node, x *Node, w []*Node) []*Node {
	if len(dw) != len(w) {
		panic(fmt.Errorf("package solve: the vector-Jacobian product has %d cotangents for %d trainable weights: "+
			"return one each", len(dw), len(w)))
	}
	for i := range dw {
		alike(fmt.Sprintf("the cotangent of weight %d", i), dw[i], w[i])
	}
	return arguments(alike("the cotangent of x", dx, x), dw)
}
