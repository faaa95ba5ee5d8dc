package solve

import (
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Options are the settings of [Invert].
type Options struct {
	// Tolerance ends a solve of Z = Y - h(Z) when the mean absolute change of Z is below it (in the paper 1e-4 to
	// 1e-6), times that of Y if this exceeds 1. Adjoint solves end at [AdjointFactor] times Tolerance, relative to
	// their right-hand side.
	Tolerance float64
	// MaxIterations is the largest number of iterations of a solve (the paper's M), AdjointIterations that of an
	// adjoint solve; 0 stands for MaxIterations.
	MaxIterations, AdjointIterations int
	// Order is the number of earlier layers whose preactivations are extrapolated, by a polynomial, to the start of a
	// solve, Y - σ(U). (States change less smoothly: ReLU may be zero in one layer and not in the next.) With 0, and
	// with [PerLayer], solves start from Y, as in the paper.
	Order   int
	Adjoint Adjoint // "" is Implicit
}

// Adjoint is a way to differentiate the inverse of a layer.
type Adjoint string

const (
	// Implicit solves the adjoint equation of each layer. Its memory depends neither on depth nor on iterations.
	Implicit Adjoint = "implicit"
	// Unrolled differentiates the iterations, as the authors' code does, for comparison. Its memory grows with the sum
	// of depth and iterations. Solves start from Y.
	Unrolled Adjoint = "unrolled"
)

// AdjointFactor times Tolerance is the relative tolerance of adjoint solves. Features are seldom above 0.1 on average,
// so that gradients are then about as precise as states.
const AdjointFactor = 10

// DefaultOrder is the [Options].Order of the models of revgnn; docs/notes/2026-11-solving.md has measurements.
const DefaultOrder = 3

// Solution is the result of [Invert].
type Solution struct {
	// Z is the state after the last inverse, of the shape of the input.
	Z *Node
	Stats
}

// Stats describes the solves of a chain, or the steps of an integration, in scalars of the computation.
type Stats struct {
	// Iterations, an int32, are those of all solves, or evaluations of a field.
	Iterations *Node
	// Residual is the largest of any layer: the mean absolute change in the last iteration, divided by the mean
	// absolute right-hand side if this exceeds 1. Layer is the number of this layer, from 0 in the order of the
	// inverses.
	Residual, Layer *Node
	// Outcome, an int32, is [Reached], or why an integration has no valid result.
	Outcome *Node
	// Adjoint are two zeros. The gradient of a loss by it is no slope, but what the backward pass tells: the iterations
	// of all adjoint solves (vector-Jacobian products of a field), and their largest residual, relative to the
	// right-hand side.
	Adjoint *Node
}

// NoStats are the statistics of a computation without solves. x is any node of its graph.
func NoStats(x *Node) Stats {
	zero := loop.Float(x, 0)
	return Stats{Iterations: loop.Int(x.Graph(), 0), Residual: zero, Layer: loop.Int(x.Graph(), 0),
		Outcome: loop.Int(x.Graph(), Reached), Adjoint: pair(zero, zero)}
}

// pair is the vector of two scalars, in the type of the second.
func pair(a, b *Node) *Node {
	return Concatenate([]*Node{Reshape(ConvertDType(a, b.DType()), 1), Reshape(b, 1)}, 0)
}

// differentiable is y with a gradient by hand for x and the trainable weights, and the statistics of the backward pass
// as that of s.Adjoint.
func differentiable(y, x *Node, trainable []*Node, s *Stats, pull func(v *Node) (cotangents, *Node)) *Node {
	zero := loop.Float(x, 0)
	s.Adjoint = pair(zero, zero)
	inputs := append(append([]*Node{x}, trainable...), s.Adjoint)
	return loop.Custom(y, inputs, func(v *Node) []*Node {
		grads, told := pull(v)
		return append(append([]*Node{grads.x}, grads.w...), told)
	})
}

// Invert applies the inverses of depth layers f(X) = X + h(X; w). It is differentiable in x and in the trainable
// weights.
func Invert[W any](l Layer[W], x *Node, w W, depth int, o Options) Solution {
	if depth <= 0 {
		return Solution{x, NoStats(x)}
	}
	one, trainable, known := weightsOf(l, w, depth)
	if known.separate() || o.Adjoint == Unrolled {
		o.Order = 0
	}
	c := chain[W]{o, one, known, depth}
	fixed := stopped(w)
	if o.Adjoint == Unrolled {
		end, stats := c.invert(StopGradient(x), fixed, 0, true)
		z := differentiable(end.z, x, trainable, &stats, func(v *Node) (cotangents, *Node) {
			return c.unrolledBack(v, end.inputs, fixed)
		})
		return Solution{z, stats}
	}
	_, keeps := one.(taper[W])
	keeps = keeps && Keeps(x.Shape().Dimensions[0], x.Shape().Dimensions[1], depth)
	places := c.Order
	if keeps {
		places = max(places, depth)
	}
	end, stats := c.invert(StopGradient(x), fixed, places, false)
	if !keeps {
		end.preactivations = nil
	}
	z := differentiable(end.z, x, trainable, &stats, func(v *Node) (cotangents, *Node) {
		return c.pullBack(end.z, v, history[W]{fixed, end.preactivations})
	})
	return Solution{z, stats}
}

// A reverse chain keeps preactivations of at most keptBytes bytes and at least keptWidth columns. Computing one again
// takes 2 n d² operations, keeping it moves 8 n d bytes: for d = 64 and d = 128, keeping was not faster
// (docs/notes/2026-11-compiler.md).
const keptBytes, keptWidth = 128 << 20, 256

// Keeps tells whether a reverse chain keeps the preactivations [n, d] of all layers for the backward pass, if its layer
// can make a tape without them.
func Keeps(n, d, depth int) bool {
	return d >= keptWidth && 4*int64(n)*int64(d)*int64(depth) <= keptBytes
}

// chain is a chain of inverses.
type chain[W any] struct {
	Options
	block Layer[W]
	weights
	depth int
}

// layer is the layer that step i inverts: the last one first.
func (c chain[W]) layer(i *Node) *Node { return Sub(loop.Int(i.Graph(), c.depth-1), i) }

// inversion is the state of the loop over the layers.
type inversion struct {
	z                        *Node // the result of the latest step
	iterations, worst, where *Node // of all steps; the largest residual, and the step that has it
	preactivations, inputs   *Node // stacks of the latest preactivations and of all right-hand sides, or nil
}

// invert solves layer by layer. The latest keep >= c.Order preactivations are kept and, if asked, all right-hand sides.
func (c chain[W]) invert(x *Node, w W, keep int, inputs bool) (inversion, Stats) {
	g := x.Graph()
	start := inversion{z: x, iterations: loop.Int(g, 0), worst: loop.Float(x, 0), where: loop.Int(g, 0)}
	if keep > 0 {
		start.preactivations = stack(x, keep)
	}
	if inputs {
		start.inputs = stack(x, c.depth)
	}
	out := loop.Repeat(loop.Int(g, c.depth), start, w, func(i *Node, s inversion, w W) inversion {
		y, scale := s.z, magnitude(s.z)
		found, end := c.solve(i, s, at(c.weights, w, c.layer(i)), Mul(scale, loop.Float(y, c.Tolerance)))
		residual := Div(end.residual, scale)
		// NaN counts as worse than every number, and nothing as worse than NaN.
		worse := LogicalAnd(LogicalNot(LessOrEqual(residual, s.worst)), Equal(s.worst, s.worst))
		if inputs {
			s.inputs = store(s.inputs, y, i)
		}
		s.z, s.preactivations, s.iterations = found.z, found.kept, Add(s.iterations, end.count)
		s.worst, s.where = Where(worse, residual, s.worst), Where(worse, i, s.where)
		return s
	})
	return out, Stats{Iterations: out.iterations, Residual: out.worst, Layer: out.where,
		Outcome: loop.Int(g, Reached)}
}

// iterate is the state of a solve. Each iteration writes its preactivation into the stack kept, at the step's place.
type iterate struct{ z, kept *Node }

// rightSide is what the solve of step i reads.
type rightSide[W any] struct {
	y, i *Node
	w    W
}

// solve solves Z = Y - h(Z) in step i, with Y = s.z.
func (c chain[W]) solve(i *Node, s inversion, w W, tolerance *Node) (iterate, end) {
	y := s.z
	start := iterate{y, s.preactivations}
	if c.Order > 0 {
		start.z = Sub(y, c.block.Activate(extrapolated(s.preactivations, i, c.Order), w))
	}
	iteration := fixedPoint[iterate, rightSide[W]]{limit: c.MaxIterations, tolerance: tolerance}
	iteration.step = func(s iterate, r rightSide[W]) (iterate, *Node) {
		u := c.block.Preactivation(s.z, r.w)
		h := c.block.Activate(u, r.w)
		change := loop.MeanAbs(Sub(Sub(r.y, h), s.z))
		if s.kept != nil {
			s.kept = store(s.kept, u, Mod(r.i, loop.Int(r.i.Graph(), s.kept.Shape().Dimensions[0])))
		}
		s.z = Sub(loop.After(change, r.y), h)
		return s, change
	}
	return iteration.run(start, rightSide[W]{y, i, w})
}

// extrapolated is the value at step i of the polynomial through the last preactivations, order of them or as many as
// there are. Step k's is at place k modulo the stack's length.
func extrapolated(stack, i *Node, order int) *Node {
	g := i.Graph()
	places := stack.Shape().Dimensions[0]
	// The value at 0 of the polynomial through those at -1, …, -k is the sum over j of -(-1)^j C(k, j) times that at -j
	// (Lagrange). table[k][j-1] is this factor.
	table := make([][]float32, order+1)
	for k := range table {
		table[k] = make([]float32, order)
		c := 1.0
		for j := 1; j <= k; j++ {
			c *= -float64(k-j+1) / float64(j)
			table[k][j-1] = float32(-c)
		}
	}
	weights := Reshape(Gather(Const(g, table), Reshape(Min(i, loop.Int(g, order)), 1, 1)), order)
	var sum *Node
	for j := range order {
		place := Mod(Add(i, loop.Int(g, places-1-j)), loop.Int(g, places))
		weight := ConvertDType(element(weights, j), stack.DType())
		sum = loop.Accumulate(sum, loop.Scale(load(stack, place), weight))
	}
	return sum
}

// magnitude is max(1, mean |y|): tolerances are absolute as in the paper for small states, and relative for large ones,
// whose rounding errors single precision cannot get below.
func magnitude(y *Node) *Node { return Max(loop.MeanAbs(y), loop.Float(y, 1)) }

// Profile inverts depth layers with exactly so many iterations each, from the right-hand side (Algorithm 1 of the
// paper). changes[m] is the mean absolute change in iteration m, averaged over the layers. There is no gradient.
func Profile[W any](l Layer[W], x *Node, w W, depth, iterations int) (z, changes *Node) {
	one, _, known := weightsOf(l, w, depth)
	c := chain[W]{Options{}, one, known, depth}
	type state struct{ z, changes *Node }
	type reads struct {
		y *Node
		w W
	}
	none := BroadcastToShape(loop.Float(x, 0), shapes.Make(x.DType(), iterations))
	start := state{StopGradient(x), none}
	out := loop.Repeat(loop.Int(x.Graph(), depth), start, stopped(w), func(i *Node, s state, w W) state {
		r := reads{s.z, at(known, w, c.layer(i))}
		return loop.Repeat(loop.Int(i.Graph(), iterations), s, r, func(m *Node, s state, r reads) state {
			next := Sub(r.y, apply(one, s.z, r.w))
			change := Mul(loop.MeanAbs(Sub(next, s.z)), loop.Float(next, 1/float64(max(1, depth))))
			return state{next, put(s.changes, Add(entry(s.changes, m), change), m)}
		})
	})
	return out.z, out.changes
}
