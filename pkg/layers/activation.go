package layers

import (
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Activation is a function of one variable whose slope is between 0 and 1, so that it does not expand: a block's
// Lipschitz constant stays within the bound on its weights. The zero value is [ActivationReLU].
type Activation string

// The activations: max(x, 0); max(x, 0.2 x); x above 0 and exp(x) - 1 below (Clevert et al., ICLR 2016); tanh(x); and
// log(1 + exp(x)), which is smooth.
const (
	ActivationReLU      Activation = "relu"
	ActivationLeakyReLU Activation = "leaky-relu"
	ActivationELU       Activation = "elu"
	ActivationTanh      Activation = "tanh"
	ActivationSoftplus  Activation = "softplus"
)

// Activations are the names of all.
var Activations = []string{string(ActivationReLU), string(ActivationLeakyReLU), string(ActivationELU),
	string(ActivationTanh), string(ActivationSoftplus)}

// Of is σ(x), entry by entry. It reads nothing but x, and may be used in loops.
func (a Activation) Of(x *Node) *Node {
	switch a {
	case ActivationLeakyReLU:
		return leaky(x)
	case ActivationELU:
		return Add(loop.ReLU(x), expNegative(x, -1))
	case ActivationTanh:
		return Tanh(x)
	case ActivationSoftplus:
		// max(x, 0) + log(1 + exp(-|x|)), which does not overflow.
		return Add(loop.ReLU(x), Log1p(Exp(Neg(Abs(x)))))
	}
	return loop.ReLU(x)
}

// biased is σ(u + b), b a row.
func (a Activation) biased(u, b *Node) *Node { return a.Of(Add(u, rowVector(b, u))) }

// gate is v times the slope of σ at u + b.
func (a Activation) gate(u, v, b *Node) *Node {
	x := Add(u, rowVector(b, u))
	positive := GreaterThan(x, loop.Zeros(x))
	switch a {
	case ActivationLeakyReLU:
		return Mul(v, leakySlope(x))
	case ActivationELU:
		return Where(positive, v, Mul(v, expNegative(x, 0)))
	case ActivationTanh:
		t := Tanh(x)
		return Sub(v, Mul(v, Mul(t, t)))
	case ActivationSoftplus:
		return Mul(v, Sigmoid(x))
	}
	return Where(positive, v, loop.Zeros(v))
}

// expNegative is exp(min(x, 0)) + shift.
func expNegative(x *Node, shift float64) *Node {
	e := Exp(Min(x, loop.Zeros(x)))
	if shift == 0 {
		return e
	}
	return Add(e, loop.Like(loop.Float(x, shift), x))
}

// rowVector spreads b over the rows of x.
func rowVector(b, x *Node) *Node {
	return BroadcastToShape(Reshape(b, 1, b.Shape().Size()),
		shapes.Make(x.DType(), x.Shape().Dimensions[0], b.Shape().Size()))
}
