package layers

import (
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Activation is the name of a function σ, which a layer applies to every entry of the preactivation. The slope of σ is
// between 0 and 1, so that σ never moves two arguments farther apart. The Lipschitz constant of a block is therefore at
// most the Lipschitz constant of its preactivation. The empty name stands for [ActivationReLU].
type Activation string

// The activations, as functions of x, are: ReLU, max(x, 0); leaky ReLU, max(x, 0.2 x); ELU, which is x for x > 0, and
// exp(x) - 1 otherwise (Clevert et al., ICLR 2016); tanh(x); and softplus, log(1 + exp(x)), which is smooth.
const (
	ActivationReLU      Activation = "relu"
	ActivationLeakyReLU Activation = "leaky-relu"
	ActivationELU       Activation = "elu"
	ActivationTanh      Activation = "tanh"
	ActivationSoftplus  Activation = "softplus"
)

// Activations lists the names of all activations.
var Activations = []string{string(ActivationReLU), string(ActivationLeakyReLU), string(ActivationELU),
	string(ActivationTanh), string(ActivationSoftplus)}

// Of is σ(x), entry by entry. It works in loop bodies, too; see package loop.
func (a Activation) Of(x *Node) *Node {
	switch a {
	case ActivationLeakyReLU:
		return leaky(x)
	case ActivationELU:
		return Add(loop.ReLU(x), expNegative(x, -1))
	case ActivationTanh:
		return Tanh(x)
	case ActivationSoftplus:
		// This formula equals log(1 + exp(x)), but does not overflow for large x: max(x, 0) + log(1 + exp(-|x|)).
		return Add(loop.ReLU(x), Log1p(Exp(Neg(Abs(x)))))
	}
	return loop.ReLU(x)
}

// biased is σ(u + b), with b added to every row.
func (a Activation) biased(u, b *Node) *Node { return a.Of(Add(u, rowVector(b, u))) }

// gate is v ∘ σ'(u + b). If v is the cotangent of σ(u + b), this is the cotangent of u.
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

// expNegative is exp(min(x, 0)) + shift. For negative x, it is ELU if shift is -1, and the derivative of ELU if shift
// is 0.
func expNegative(x *Node, shift float64) *Node {
	e := Exp(Min(x, loop.Zeros(x)))
	if shift == 0 {
		return e
	}
	return Add(e, loop.Like(loop.Float(x, shift), x))
}

// rowVector returns an array [n, d], where n is the number of rows of x. Each row of the array is the vector b, [d].
func rowVector(b, x *Node) *Node {
	return BroadcastToShape(Reshape(b, 1, b.Shape().Size()),
		shapes.Make(x.DType(), x.Shape().Dimensions[0], b.Shape().Size()))
}
