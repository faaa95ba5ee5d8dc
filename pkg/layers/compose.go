package layers

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/solve"
)

// GatedWeights are the gates G [n, d], between 0 and 1, and the weights of the layer that they gate.
type GatedWeights[W any] struct {
	G     *Node
	Inner W
}

// Gated is X ↦ G ∘ h(X), with a gate for each node and feature, as in highway networks (Srivastava, Greff and
// Schmidhuber 2015), but that G does not depend on X. Its Lipschitz constant is at most that of h.
func Gated[W any](h solve.Layer[W]) solve.Layer[GatedWeights[W]] {
	return solve.FromFunction(func(x *Node, w GatedWeights[W]) *Node { return Mul(w.G, solve.Apply(h, x, w.Inner)) })
}

// Projected is X ↦ h(P(X)). Its Lipschitz constant is at most that of h. It has h's activation, so that solves start
// from preactivations of h.
func Projected[W any](h solve.Layer[W], p Projection) solve.Layer[W] { return projected[W]{h, p} }

type projected[W any] struct {
	solve.Layer[W]
	p Projection
}

// differentiate is P for loop bodies. Of x, only the shape is used.
func (l projected[W]) differentiate(x *Node) *loop.Differentiable {
	return loop.Differentiate(func(in []*Node) *Node { return l.p.Of(in[0]) }, []*Node{x}, 1)
}

func (l projected[W]) Preactivation(x *Node, w W) *Node { return l.Layer.Preactivation(l.p.Of(x), w) }

func (l projected[W]) Linearize(x *Node, w W) (*Node, []*Node) {
	y, tape := l.differentiate(x).Linearize([]*Node{x})
	u, inner := l.Layer.Linearize(y, w)
	return u, append(tape, inner...)
}

func (l projected[W]) PullX(q *Node, tape []*Node, w W) (*Node, []*Node) {
	p := l.differentiate(q)
	k := len(p.Tape())
	v, shared := l.Layer.PullX(q, tape[k:], w)
	return p.Pull(v, tape[:k], nil, 0, 1)[0], shared
}

func (l projected[W]) PullW(q *Node, shared, tape []*Node, w W) W {
	return l.Layer.PullW(q, shared, tape[len(l.differentiate(q).Tape()):], w)
}

// Normalised is the branch N(X + h(X)) - X of a layer whose result is normalised by N. In general it is no contraction,
// and the layer cannot be run backwards.
func Normalised[W any](h solve.Layer[W], n func(y *Node) *Node) solve.Layer[W] {
	return solve.FromFunction(func(x *Node, w W) *Node {
		// The cotangents of X + h(X) are added up at y before that of -X: recorded runs depend on the rounding.
		y := IdentityWithCustomGradient(x, func(_, v *Node) *Node { return v })
		return Sub(n(Add(y, solve.Apply(h, y, w))), x)
	})
}

// Projection maps a state X, [n, d], to the nearest point of a convex set, so that its Lipschitz constant is at most 1.
type Projection string

const (
	// ProjectionCenter subtracts from each row its mean, like the first step of LayerNorm (Ba, Kiros and Hinton 2016).
	ProjectionCenter Projection = "center"
	// ProjectionCenterNodes subtracts from each column its mean, like the first step of PairNorm (Zhao and Akoglu, ICLR
	// 2020).
	ProjectionCenterNodes Projection = "center-nodes"
	// ProjectionBall shortens rows x_i to the length sqrt(d) of LayerNorm's rows: x_i min(1, sqrt(d)/|x_i|).
	ProjectionBall Projection = "ball"
)

// Of is P(x).
func (p Projection) Of(x *Node) *Node {
	n, d := x.Shape().Dimensions[0], float64(x.Shape().Dimensions[1])
	switch p {
	case ProjectionCenterNodes:
		mean := loop.Sum(x)
		return Sub(x, rowVector(loop.Scale(mean, loop.Float(mean, 1/float64(n))), x))
	case ProjectionBall:
		squares := loop.RowDots(x, x)
		most := loop.Like(loop.Float(squares, d), squares)
		scale := Sqrt(Div(most, Max(squares, most))) // exactly 1 within the ball
		return Mul(x, BroadcastToShape(scale, x.Shape()))
	}
	mean := Dot(x, BroadcastToDims(loop.Float(x, 1/d), int(d), 1)).Product()
	return Sub(x, BroadcastToShape(mean, x.Shape()))
}

// PairNorm centres the rows of x, [n, d], c_i = x_i - mean over j of x_j, and scales them (Zhao and Akoglu, ICLR 2020):
//
//	y_i = scale c_i / sqrt(mean over j of |c_j|²),  or, individually ("PairNorm-SI"),  y_i = scale c_i / |c_i|.
//
// As in their code, 1e-6 is added under the square root.
func PairNorm(x *Node, scale float64, individually bool) *Node {
	n := float64(x.Shape().Dimensions[0])
	c := Sub(x, rowVector(MulScalar(loop.Sum(x), 1/n), x))
	squares := ReduceAndKeep(Square(c), ReduceSum, 1)
	if !individually {
		squares = ReduceAndKeep(squares, ReduceMean, 0)
	}
	return Div(MulScalar(c, scale), BroadcastToShape(Sqrt(AddScalar(squares, 1e-6)), c.Shape()))
}

// LayerNorm normalises each row to mean 0 and variance 1 (Ba, Kiros and Hinton 2016), with PyTorch's epsilon of 1e-5
// and without trainable parameters.
func LayerNorm(x *Node) *Node {
	x = Sub(x, ReduceAndKeep(x, ReduceMean, 1))
	return Div(x, Sqrt(AddScalar(ReduceAndKeep(Square(x), ReduceMean, 1), 1e-5)))
}
