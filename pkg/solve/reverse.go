package solve

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Options of the fixed-point iterations.
type Options struct {
	// Tolerance ends a solve when the mean absolute difference of two iterates falls below it (paper: 1e-4 … 1e-6), times
	// the mean absolute value of the right-hand side where that exceeds 1. An adjoint solve for λ ends when that difference, or
	// twice the expected mean absolute error, of σ' ∘ λ falls below [AdjointFactor] times Tolerance, relative to that of its
	// right-hand side. The error counted is that which is left by the correction in the next layer.
	Tolerance float64
	// MaxIterations limits every solve (the paper's M), and AdjointIterations every adjoint solve (0: as MaxIterations).
	MaxIterations, AdjointIterations int
	// Order is the number of earlier layers that each solve starts from: from Z = Y - σ(U), where U is the value, at the layer, of
	// the polynomial through their preactivations. The reverse process is smooth over layers, and preactivations are smoother
	// than states, which have kinks where an activation sets in. 0 starts from the right-hand side, as the paper does.
	Order int
}

// AdjointFactor relates the adjoint's tolerance, which is relative, to the solve's, which is absolute: features are seldom
// larger than 0.1 on average, so that this asks no less of the gradient than of the states it belongs to.
const AdjointFactor = 10

// DefaultOrder of the extrapolated start; see docs/performance.md for measurements.
const DefaultOrder = 3

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
// implicit differentiation. Memory depends neither on depth nor on the iterations, beyond [Keeps].
func ReverseChain(block Block, x *Node, w []*Node, depth int, o Options) (*Node, *Stats) {
	if depth <= 0 {
		return x, NoStats(x)
	}
	trainable := block.Trainable()
	fixed := stopped(w)
	_, kept := block.(Taper)
	kept = kept && Keeps(x.Shape().Dimensions[0], x.Shape().Dimensions[1], depth)
	keep := o.Order
	if kept {
		keep = max(keep, depth)
	}
	z, stacks, stats := invert(block, StopGradient(x), fixed, depth, o, keep, false)
	y := Custom(z, append([]*Node{x}, w[:trainable]...), func(v *Node) []*Node {
		if !kept {
			stacks = nil
		}
		return pullBack(block, z, v, fixed, stacks, depth, o, stats)
	})
	return y, stats
}

// invert solves Z = Y - h(Z) layer by layer; each result is the next right-hand side. It returns the last result and stacks: the
// preactivations of the last keep layers, o.Order at least, that of layer i at place i mod keep, if there are any; then, if inputs is
// set, the inputs of all layers.
func invert(block Block, x *Node, w []*Node, depth int, o Options, keep int, inputs bool) (last *Node, stacks []*Node, stats *Stats) {
	g := x.Graph()
	start := []*Node{x, loop.Int(g, 0), loop.Float(x, 0), loop.Int(g, 0)}
	if keep > 0 {
		start = append(start, stack(x, keep))
	}
	if inputs {
		start = append(start, stack(x, depth))
	}
	out := loop.Repeat(loop.Int(g, depth), start, w, func(layer *Node, state, w []*Node) []*Node {
		y, total, worst, where, rest := state[0], state[1], state[2], state[3], state[4:]
		scale := magnitude(y)
		guess := []*Node{y}
		if o.Order > 0 {
			guess[0] = Sub(y, block.Activate(extrapolated(rest[0], layer, o.Order), w))
		}
		if keep > 0 {
			guess = append(guess, rest[0])
		}
		iteration := fixedPoint{limit: o.MaxIterations, step: func(state, reads []*Node) ([]*Node, *Node) {
			z, y, layer, w := state[0], reads[0], reads[1], reads[2:]
			u := block.Preactivation(z, w)
			h := block.Activate(u, w)
			change := loop.MeanAbs(Sub(Sub(y, h), z))
			next := []*Node{Sub(loop.After(change, y), h)}
			if keep > 0 {
				next = append(next, store(state[1], u, Mod(layer, loop.Int(layer.Graph(), keep))))
			}
			return next, change
		}}
		z, end := iteration.run(guess, append([]*Node{y, layer}, w...), Mul(scale, loop.Float(y, o.Tolerance)), loop.Float(y, 1), loop.Float(y, 1))
		residual := Div(end.residual, scale)
		// Not "residual > worst": a NaN must win.
		worse := LogicalNot(LessOrEqual(residual, worst))
		next := append([]*Node{z[0], Add(total, end.count), Where(worse, residual, worst), Where(worse, layer, where)}, z[1:]...)
		if inputs {
			next = append(next, store(rest[len(rest)-1], y, layer))
		}
		return next
	})
	return out[0], out[4:], &Stats{Iterations: out[1], Residual: out[2], Layer: out[3], Outcome: loop.Int(g, Reached)}
}

// extrapolated is the preactivation that a layer's solution is expected to have: the value, at the layer, of the polynomial
// through those of the layers before, as many as there are and order at most; that of layer i is at place i mod the stack's length.
func extrapolated(stack, layer *Node, order int) *Node {
	g := layer.Graph()
	places := stack.Shape().Dimensions[0]
	// Lagrange's coefficients of the values at -1 … -k for that at 0 are -(-1)^i C(k, i).
	table := make([][]float32, order+1)
	for k := range table {
		table[k] = make([]float32, order)
		c := 1.0
		for i := 1; i <= k; i++ {
			c *= -float64(k-i+1) / float64(i)
			table[k][i-1] = float32(-c)
		}
	}
	weights := Reshape(Gather(Const(g, table), Reshape(Min(layer, loop.Int(g, order)), 1, 1)), order)
	var sum *Node
	for i := range order {
		place := Mod(Add(layer, loop.Int(g, places-1-i)), loop.Int(g, places))
		term := loop.Scale(load(stack, place), ConvertDType(element(weights, i), stack.DType()))
		if sum == nil {
			sum = term
		} else {
			sum = Add(sum, term)
		}
	}
	return sum
}

// magnitude is max(1, mean |y|): a tolerance times it is absolute, as in the paper, for states of ordinary size, and relative
// for those that have grown so large that single precision could not meet it.
func magnitude(y *Node) *Node { return Max(loop.MeanAbs(y), loop.Float(y, 1)) }

// smooth is the depth from which on adjoint solves start from a line. Layers then differ so little from each other that it is
// nearer, and errors just below the tolerance would add up over the chain. In shorter chains, entries whose activation sets in
// between two layers make it worse as often as better.
const smooth = 128

// unlike is by how much neighbouring layers of a chain are taken to differ, of the whole that they are to differ by: by 2/depth, and no
// less than an eighth, since what is left from layer to layer adds up over a deep chain.
func unlike(depth int) float64 { return min(1, max(1.0/8, 2/float64(depth))) }

// pullBack walks the chain from its end z. In each layer it solves λ = v - J_h(z)^T λ, collects the weights' cotangents
// -(∂h/∂w)^T λ, and steps to the layer's input z + h(z). stacks holds the preactivations of all layers' last iterates but one, in
// place of u(z), if they were kept: the layer's input is then what z was made of, to the last digit.
//
// With J_h = σ' K, K = ∂u/∂X, the iterate is q = σ' ∘ λ, for λ = v - p and p = K^T q. p starts from that of the layer before, which is near,
// or in deep chains from a line through those of the last two. The last change e of q, relative to σ' ∘ v, is the residual.
//
// e is not multiplied by K^T any more in its own layer, which leaves an error of about -K^T e in λ: it is added to q in the layer that
// comes next, whose K is the same, or nearly so if it depends on X. A layer so takes an iteration less. The weights' cotangents
// come from the q that were multiplied: over the chain, what one layer leaves out the next one has. The last layer is solved as if it were
// alone.
func pullBack(block Block, z, v *Node, w, stacks []*Node, depth int, o Options, stats *Stats) []*Node {
	g := z.Graph()
	limit := o.AdjointIterations
	if limit <= 0 {
		limit = o.MaxIterations
	}
	zero := loop.Float(z, 0)
	state := []*Node{z, v, loop.Zeros(v), loop.Zeros(v), loop.Zeros(v), loop.Int(g, 0), zero, loop.Float(z, 1)}
	state = append(state, zeros(w[:block.Trainable()])...)
	out := loop.Repeat(loop.Int(g, depth), state, append(stacks[:len(stacks):len(stacks)], w...), func(layer *Node, state, reads []*Node) []*Node {
		kept, w := reads[:len(stacks)], reads[len(stacks):]
		z, v, p, slope, late, total, worst, rate, grads := state[0], state[1], state[2], state[3], state[4], state[5], state[6], state[7], state[8:]
		u, tape := linearized(block, z, w, kept, Sub(loop.Int(layer.Graph(), depth-1), layer))
		whole := Add(block.Gate(u, v, w), late) // q for p = 0
		size := Max(loop.MeanAbs(whole), loop.Float(v, 1e-30))
		_, empty := block.PullX(v, tape, w) // for its shapes only: engines leave out what is not used
		for i, e := range empty {
			empty[i] = loop.Zeros(e)
		}
		iteration := fixedPoint{limit: limit, linear: true, step: func(state, reads []*Node) ([]*Node, *Node) {
			q, whole, u, tape, w := state[0], reads[0], reads[1], reads[2:2+len(tape)], reads[2+len(tape):]
			p, shared := block.PullX(q, tape, w)
			e := Sub(Sub(whole, block.Gate(u, p, w)), q)
			change := loop.MeanAbs(e)
			return append([]*Node{Add(loop.After(change, q), e), e, p}, shared...), change
		}}
		start := p
		if depth >= smooth {
			start = Add(p, slope)
		}
		// left is the part of e that is left to the next layer: 1, in the last one 0.
		left := ConvertDType(LessThan(layer, loop.Int(layer.Graph(), depth-1)), v.DType())
		least := Sub(loop.Float(v, 1), Mul(left, loop.Float(v, 1-unlike(depth))))
		found, end := iteration.run(append([]*Node{Sub(whole, block.Gate(u, start, w)), late, p}, empty...), append(append([]*Node{whole, u}, tape...), w...),
			Mul(size, loop.Float(v, AdjointFactor*o.Tolerance)), rate, least)
		if depth >= smooth {
			slope = Sub(found[2], p)
		}
		late, p = found[1], found[2]
		next := []*Node{Add(z, block.Activate(u, w)), Sub(v, p), p, slope, late, Add(total, end.count), Max(worst, Div(end.residual, size)), end.rate}
		q := Sub(found[0], loop.Scale(late, left))
		for i, dw := range block.PullW(q, found[3:], tape, w) {
			next = append(next, Sub(grads[i], dw))
		}
		return next
	})
	stats.AdjointIterations, stats.AdjointResidual = out[5], out[6]
	return append([]*Node{out[1]}, out[8:]...)
}

// linearized is u, read from kept where it was kept, and the tape.
func linearized(block Block, z *Node, w, kept []*Node, layer *Node) (u *Node, tape []*Node) {
	if len(kept) == 0 {
		return block.Linearize(z, w)
	}
	return load(kept[0], layer), block.(Taper).Tape(z, w)
}
