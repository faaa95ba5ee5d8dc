package solve

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Options of the fixed-point iterations.
type Options struct {
	// Tolerance ends a solve when the mean absolute difference of two iterates falls below it (paper: 1e-4 … 1e-6), times
	// the mean absolute value of the right-hand side where that exceeds 1. An adjoint solve ends when that difference, or twice
	// the expected mean absolute error, falls below [AdjointFactor] times Tolerance, relative to its right-hand side.
	Tolerance float64
	// MaxIterations limits every solve (the paper's M), and AdjointIterations every adjoint solve (0: as MaxIterations).
	MaxIterations, AdjointIterations int
	// Order of the polynomial through the last layers' states that starts each solve: 0 starts from the right-hand side,
	// as the paper does; 1 from a line, 2 from a parabola. The reverse process is smooth over layers, so that a higher
	// order saves iterations.
	Order int
}

// AdjointFactor relates the adjoint's tolerance, which is relative, to the solve's, which is absolute: features are seldom
// larger than 0.1 on average, so that this asks no less of the gradient than of the states it belongs to.
const AdjointFactor = 10

// DefaultOrder of the extrapolated start; see docs/performance.md for measurements.
const DefaultOrder = 2

// Stats tells how the solves went. The nodes are scalars of the graph; the adjoint's are nil until the gradient is built.
type Stats struct {
	// Iterations and AdjointIterations are int32 totals over all layers.
	Iterations, AdjointIterations *Node
	// Residual is the largest residual of any layer, as compared with the tolerance, and Layer its number from 0;
	// AdjointResidual is the same of the adjoint solves.
	Residual, Layer, AdjointResidual *Node
	// Outcome of an integration, [Reached] or a reason why its result means nothing, int32; [Reached] for fixed-point solves.
	Outcome *Node
}

// ReverseChain applies g = f^-1 depth times, f(X) = X + h(X; w), and is differentiable in x and the trainable weights by
// implicit differentiation. Memory depends neither on depth nor on the iterations.
func ReverseChain(block Block, x *Node, w []*Node, depth int, o Options) (*Node, *Stats) {
	if depth <= 0 {
		return x, NoStats(x)
	}
	trainable := block.Trainable()
	fixed := stopped(w)
	z, _, stats := invert(block, StopGradient(x), fixed, depth, o, false)
	y := custom(z, append([]*Node{x}, w[:trainable]...), func(v *Node) []*Node {
		return pullBack(block, z, v, fixed, depth, o, stats)
	})
	return y, stats
}

// invert solves Z = Y - h(Z) layer by layer; each result is the next right-hand side. It returns the last result and, if
// keep is set, the inputs of all layers.
func invert(block Block, x *Node, w []*Node, depth int, o Options, keep bool) (last, inputs *Node, stats *Stats) {
	g := x.Graph()
	start := []*Node{x, loop.Int(g, 0), loop.Float(x, 0), loop.Int(g, 0)}
	for range o.Order {
		start = append(start, loop.Zeros(x))
	}
	if keep {
		start = append(start, stack(x, depth))
	}
	out := loop.Repeat(loop.Int(g, depth), start, w, func(layer *Node, state, w []*Node) []*Node {
		y, total, worst, where, diffs := state[0], state[1], state[2], state[3], state[4:4+o.Order]
		guess := y
		for _, d := range diffs {
			guess = Add(guess, d)
		}
		scale := magnitude(y)
		iteration := fixedPoint{limit: o.MaxIterations, step: func(z *Node, reads []*Node) (*Node, []*Node) {
			return Sub(reads[0], block.Apply(z, reads[1:])), nil
		}}
		z, _, end := iteration.run(guess, append([]*Node{y}, w...), Mul(scale, loop.Float(y, o.Tolerance)), loop.Float(y, 1))
		residual := Div(end.residual, scale)
		// Not "residual > worst": a NaN must win.
		worse := LogicalNot(LessOrEqual(residual, worst))
		next := []*Node{z, Add(total, end.count), Where(worse, residual, worst), Where(worse, layer, where)}
		// Backward differences: ∇z, ∇²z, …; a difference of order k needs k earlier layers, and is zero before.
		d := Sub(z, y)
		for k := range diffs {
			if k > 0 {
				known := GreaterOrEqual(layer, loop.Int(layer.Graph(), k))
				d = loop.Scale(Sub(d, diffs[k-1]), ConvertDType(known, x.DType()))
			}
			next = append(next, d)
		}
		if keep {
			next = append(next, store(state[4+o.Order], y, layer))
		}
		return next
	})
	return out[0], out[len(out)-1], &Stats{Iterations: out[1], Residual: out[2], Layer: out[3], Outcome: loop.Int(g, Reached)}
}

// magnitude is max(1, mean |y|): a tolerance times it is absolute, as in the paper, for states of ordinary size, and relative
// for those that have grown so large that single precision could not meet it.
func magnitude(y *Node) *Node { return Max(loop.MeanAbs(y), loop.Float(y, 1)) }

// pullBack walks the chain from its end z. In each layer it solves λ = v - J_h(z)^T λ, collects the weights' cotangents
// -(∂h/∂w)^T λ, and steps to the layer's input z + h(z).
func pullBack(block Block, z, v *Node, w []*Node, depth int, o Options, stats *Stats) []*Node {
	g := z.Graph()
	limit := o.AdjointIterations
	if limit <= 0 {
		limit = o.MaxIterations
	}
	zero := loop.Float(z, 0)
	state := []*Node{z, v, loop.Zeros(v), loop.Int(g, 0), zero, loop.Float(z, 1)}
	for _, p := range w[:block.Trainable()] {
		state = append(state, loop.Zeros(p))
	}
	out := loop.Repeat(loop.Int(g, depth), state, w, func(_ *Node, state, w []*Node) []*Node {
		z, v, correction, total, worst, rate, grads := state[0], state[1], state[2], state[3], state[4], state[5], state[6:]
		h, tape := block.Linearize(z, w)
		size := Max(loop.MeanAbs(v), loop.Float(v, 1e-30))
		_, empty := block.PullX(v, tape, w) // for its shapes only: engines leave out what is not used
		for i, e := range empty {
			empty[i] = loop.Zeros(e)
		}
		iteration := fixedPoint{limit: limit, linear: true, step: func(lambda *Node, reads []*Node) (*Node, []*Node) {
			dx, shared := block.PullX(lambda, reads[1:1+len(tape)], reads[1+len(tape):])
			return Sub(reads[0], dx), shared
		}}
		lambda, shared, end := iteration.run(Add(v, correction), append(append([]*Node{v}, tape...), w...),
			Mul(size, loop.Float(v, AdjointFactor*o.Tolerance)), rate, empty...)
		next := []*Node{Add(z, h), lambda, Sub(lambda, v), Add(total, end.count), Max(worst, Div(end.residual, size)), end.rate}
		for p, dw := range block.PullW(lambda, shared, tape, w) {
			next = append(next, Sub(grads[p], dw))
		}
		return next
	})
	stats.AdjointIterations, stats.AdjointResidual = out[3], out[4]
	return append([]*Node{out[1]}, out[6:]...)
}
