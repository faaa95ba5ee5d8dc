package solve

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/gradient"
	"github.com/revgnn/revgnn/pkg/loop"
)

// ReverseChain applies the inverses of a chain of layers f(X) = X + h(X; w). The argument depth is the number of
// layers. The result is differentiable in x and the trainable weights, by implicit differentiation. The memory depends
// neither on depth nor on the number of iterations, unless the chain keeps preactivations; see [Keeps]. All layers
// share their weights, unless block is made by [PerLayer].
func ReverseChain(block Block, x *Node, w []*Node, depth int, o Options) (*Node, *Stats) {
	if depth <= 0 {
		return x, NoStats(x)
	}
	c := newChain(block, w, depth, o)
	fixed := stopped(w)
	_, kept := c.block.(Taper)
	kept = kept && Keeps(x.Shape().Dimensions[0], x.Shape().Dimensions[1], depth)
	keep := c.Order
	if kept {
		keep = max(keep, depth)
	}
	end, stats := c.invert(StopGradient(x), fixed, keep, false)
	if !kept {
		end.preactivations = nil
	}
	y := gradient.Custom(end.z, append([]*Node{x}, w[:block.Trainable()]...), func(v *Node) []*Node {
		return c.pullBack(end.z, v, history{fixed, end.preactivations}, stats)
	})
	return y, stats
}

// chain describes a chain of inverses. The field block is the block of a single layer. The field own lists the weights
// that are stacks, with a slice for each layer.
type chain struct {
	Options
	block Block
	own   own
	depth int
}

func newChain(block Block, w []*Node, depth int, o Options) chain {
	b, own := layered(block)
	own.check(w, depth)
	if len(own) > 0 {
		o.Order = 0
	}
	return chain{o, b, own, depth}
}

// layer is the number of the layer that step i of the chain inverts. The first step inverts the last layer.
func (c chain) layer(i *Node) *Node { return Sub(loop.Int(i.Graph(), c.depth-1), i) }

// inversion is the state of the loop that inverts the layers of a chain. Each step of this loop inverts one layer.
type inversion struct {
	// z is the result of the latest step, which is the right-hand side of the next step. A step inverts one layer.
	z *Node
	// iterations is the number of iterations in all steps so far. worst is the largest residual of these steps, and
	// where is the number of the step that has this residual.
	iterations, worst, where *Node
	// preactivations is a stack of the preactivations of the latest steps. The preactivation of step i is at place i
	// modulo the number of places. inputs is a stack of the right-hand sides of all steps. A stack that is not kept is
	// nil.
	preactivations, inputs *Node
}

// invert solves Z = Y - h(Z) layer by layer. The result Z of a layer is the right-hand side Y of the next one. The
// argument keep is the number of layers whose preactivations are kept, which are the latest layers. It is at least
// c.Order. If the argument inputs is true, invert also keeps the right-hand sides of all layers.
func (c chain) invert(x *Node, w []*Node, keep int, inputs bool) (inversion, *Stats) {
	g := x.Graph()
	start := inversion{z: x, iterations: loop.Int(g, 0), worst: loop.Float(x, 0), where: loop.Int(g, 0)}
	if keep > 0 {
		start.preactivations = stack(x, keep)
	}
	if inputs {
		start.inputs = stack(x, c.depth)
	}
	out := loop.Repeat(loop.Int(g, c.depth), start, w, func(i *Node, s inversion, w []*Node) inversion {
		y, scale := s.z, magnitude(s.z)
		found, end := c.solve(i, s, c.own.at(w, c.layer(i)), Mul(scale, loop.Float(y, c.Tolerance)))
		residual := Div(end.residual, scale)
		// A residual that is NaN counts as worse than every number, so that it is reported. After the first NaN, no
		// other residual is worse.
		worse := LogicalAnd(LogicalNot(LessOrEqual(residual, s.worst)), Equal(s.worst, s.worst))
		if inputs {
			s.inputs = store(s.inputs, y, i)
		}
		s.z, s.preactivations, s.iterations = found.z, found.kept, Add(s.iterations, end.count)
		s.worst, s.where = Where(worse, residual, s.worst), Where(worse, i, s.where)
		return s
	})
	return out, &Stats{Iterations: out.iterations, Residual: out.worst, Layer: out.where,
		Outcome: loop.Int(g, Reached)}
}

// iterate is the state of one solve. z is the iterate Z. kept is the chain's stack of preactivations, or nil. In each
// iteration, the solve writes the preactivation from which it computes z into this stack, at the place of the chain's
// current step.
type iterate struct{ z, kept *Node }

// rightSide is what a solve reads but does not change: the right-hand side y, the number i of the chain's step, and the
// layer's weights w.
type rightSide struct {
	y, i *Node
	w    []*Node
}

// solve solves Z = Y - h(Z) in step i of the chain. The argument s is the state of the chain's loop before this step,
// s.z is the right-hand side Y, and w are the layer's weights.
func (c chain) solve(i *Node, s inversion, w []*Node, tolerance *Node) (iterate, end) {
	y := s.z
	start := iterate{y, s.preactivations}
	if c.Order > 0 {
		start.z = Sub(y, c.block.Activate(extrapolated(s.preactivations, i, c.Order), w))
	}
	iteration := fixedPoint[iterate, rightSide]{limit: c.MaxIterations, tolerance: tolerance}
	iteration.step = func(s iterate, r rightSide) (iterate, *Node) {
		u := c.block.Preactivation(s.z, r.w)
		h := c.block.Activate(u, r.w)
		change := loop.MeanAbs(Sub(Sub(r.y, h), s.z))
		if s.kept != nil {
			s.kept = store(s.kept, u, Mod(r.i, loop.Int(r.i.Graph(), s.kept.Shape().Dimensions[0])))
		}
		s.z = Sub(loop.After(change, r.y), h)
		return s, change
	}
	return iteration.run(start, rightSide{y, i, w})
}

// extrapolated estimates the preactivation at the solution of step i, from the preactivations of earlier steps. A
// polynomial in the number of the step passes through these preactivations, and the estimate is its value at i. The
// argument order is the number of earlier steps that are used: the latest ones, or all of them if there are fewer. In
// the stack, the preactivation of step k is at place k modulo the stack's length.
func extrapolated(stack, i *Node, order int) *Node {
	g := i.Graph()
	places := stack.Shape().Dimensions[0]
	// Let 0 stand for step i, -1 for the step before it, and so on. A polynomial of degree k-1 is determined by its
	// values at -1, -2, …, -k. Its value at 0 is the sum over j = 1 … k of -(-1)^j C(k, j) times its value at -j
	// (Lagrange's formula; C(k, j) is a binomial coefficient). table[k][j-1] is this factor of the value at -j.
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
		term := loop.Scale(load(stack, place), ConvertDType(element(weights, j), stack.DType()))
		if sum == nil {
			sum = term
		} else {
			sum = Add(sum, term)
		}
	}
	return sum
}

// magnitude is max(1, mean |y|). The tolerance of a solve is multiplied by this factor. So the tolerance is absolute,
// as in the paper, if the mean is at most 1. For larger states it is relative, since rounding errors grow with the
// states, and single precision could not meet an absolute tolerance.
func magnitude(y *Node) *Node { return Max(loop.MeanAbs(y), loop.Float(y, 1)) }
