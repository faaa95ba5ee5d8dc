package layers

import (
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Activation is the name of an entrywise function σ with slopes between 0 and 1, so that Lip(σ(u)) <= Lip(u). "" is
// [ActivationReLU].
type Activation string

// ReLU, max(x, 0); leaky ReLU, max(x, 0.2 x); ELU, x for x > 0 and else exp(x) - 1 (Clevert et al., ICLR 2016);
// tanh(x); and softplus, log(1 + exp(x)).
const (
	ActivationReLU      Activation = "relu"
	ActivationLeakyReLU Activation = "leaky-relu"
	ActivationELU       Activation = "elu"
	ActivationTanh      Activation = "tanh"
	ActivationSoftplus  Activation = "softplus"
)

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
		// log(1 + exp(x)), without overflow for large x
		return Add(loop.ReLU(x), Log1p(Exp(Neg(Abs(x)))))
	}
	return loop.ReLU(x)
}

// biased is σ(u + b).
func (a Activation) biased(u, b *Node) *Node { return a.Of(Add(u, rowVector(b, u))) }

// gate is v ∘ σ'(u + b), the cotangent of u if v is that of σ(u + b).
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

// expNegative is exp(min(x, 0)) + shift: ELU below 0 for shift -1, and its derivative for 0.
func expNegative(x *Node, shift float64) *Node {
	e := Exp(Min(x, loop.Zeros(x)))
	if shift == 0 {
		return e
	}
	return Add(e, loop.Like(loop.Float(x, shift), x))
}

// rowVector has the vector b, [d], in each row of an array [n, d], n from x.
func rowVector(b, x *Node) *Node {
	return BroadcastToShape(Reshape(b, 1, b.Shape().Size()),
		shapes.Make(x.DType(), x.Shape().Dimensions[0], b.Shape().Size()))
}
