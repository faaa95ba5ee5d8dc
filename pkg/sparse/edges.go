package sparse

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Edges is a [Pattern] inside a GoMLX computation or a loop body, with differentiable operations. n is the number of
// rows (targets) and m that of columns (sources). Edge (i, j) leads from source j to target i. A node with several
// copies (see [PatternOptions]) has a row and a column for each copy.
//
// Values of edges are [places, k]: a row for each place, which holds an edge or padding. Any entrywise function may be
// applied to them between the operations of Edges, which ignore padding. Operations of GoMLX do not: use [Edges.Mask]
// first. With several heads, columns of features are head by head.
type Edges struct{ bare BareEdges }

// On returns the pattern's operations for the nodes that stand for the arrays of [Pattern.Tensors]. The field Uses of
// [PatternOptions] says which of them the pattern has arrays for.
func (p *Pattern) On(nodes []*Node) Edges {
	e := BareEdges{p, nodes}
	e.bound() // panics if there are too many or too few nodes
	return Edges{e}
}

// Fixed implements [loop.Fixed]: the arrays of a pattern get no gradient.
func (Edges) Fixed() {}

// Bare returns the same operations for derivatives that are written by hand.
func (e Edges) Bare() BareEdges { return e.bare }

// Sources gathers the features x_j of the source of every edge (i, j). x is [m, k], and the result is [places, k].
func (e Edges) Sources(x *Node) *Node {
	b := e.bare
	checkRows("Sources", "x", x, b.forward().columns)
	return loop.Custom(b.Sources(StopGradient(x)), []*Node{x}, func(v *Node) []*Node {
		mirrored := b.Transpose(e.Mask(v))
		return []*Node{b.backward().inOrder(b.backward().fold(mirrored, Add, 0))}
	})
}

// Targets gathers the features x_i of the target of every edge (i, j). x is [n, k], and the result is [places, k].
func (e Edges) Targets(x *Node) *Node {
	checkRows("Targets", "x", x, e.bare.forward().rows)
	return loop.Custom(e.bare.Targets(StopGradient(x)), []*Node{x}, func(v *Node) []*Node {
		return []*Node{e.Sum(v)}
	})
}

// Mask sets the values of padding in v, [places, k], to 0. This is needed before an operation of GoMLX that adds up the
// values of all places. The operations of Edges do not need it.
func (e Edges) Mask(v *Node) *Node { return e.mask("Mask", v) }

// mask does the same as [Edges.Mask]. It panics if v does not have a row for each place. The argument operation is the
// name of the operation that calls mask; the error message contains it.
func (e Edges) mask(operation string, v *Node) *Node {
	e.bare.checkPlaces(operation, v)
	return e.bare.forward().masked(v, 0)
}

// Sum adds up the values of each target's edges: it is Σ_j v_ij for every target i. v is [places, k], and the result is
// [n, k]. The sum is 0 for targets without edges.
func (e Edges) Sum(v *Node) *Node {
	v = e.mask("Sum", v)
	return loop.Custom(e.bare.Sum(StopGradient(v)), []*Node{v}, func(g *Node) []*Node {
		return []*Node{e.Targets(g)}
	})
}

// Degree is the number of edges that lead to each target. The result is [n, 1], in single precision.
func (e Edges) Degree() *Node { return e.bare.Sum(e.bare.Stored()) }

// Mean averages the values of each target's edges: it is Σ_j v_ij, divided by the number of edges, for every target i.
// v is [places, k], and the result is [n, k]. The mean is 0 for targets without edges.
func (e Edges) Mean(v *Node) *Node {
	sum := e.Sum(v)
	degree := ConvertDType(e.Degree(), v.DType())
	degree = Max(degree, loop.Like(loop.Float(v, 1), degree))
	return Div(sum, BroadcastToShape(degree, sum.Shape()))
}

// Max is the largest value of each target's edges: max_j v_ij for every target i. v is [places, k], and the result is
// [n, k]. The maximum is 0 for targets without edges. If several edges of a target have the largest value, each of them
// gets an equal part of the gradient.
func (e Edges) Max(v *Node) *Node {
	v = e.mask("Max", v)
	fixed := StopGradient(v)
	top := e.bare.Max(fixed)
	empty := Equal(e.Degree(), loop.Zeros(e.Degree()))
	y := Where(BroadcastToShape(empty, top.Shape()), loop.Zeros(top), top)
	return loop.Custom(y, []*Node{v}, func(g *Node) []*Node {
		largest := e.Mask(ConvertDType(Equal(fixed, e.bare.Targets(top)), v.DType()))
		count := e.bare.Sum(largest)
		share := Div(g, Max(count, loop.Like(loop.Float(g, 1), count)))
		return []*Node{Mul(largest, e.bare.Targets(share))}
	})
}

// Softmax is exp(s_ij) / Σ_j exp(s_ij) for scores s, where the sum is over the edges of target i. The scores and the
// result are [places, k]. The result is 0 for padding, and the computation does not overflow. Scores below -1e30, such
// as minus infinity, count as -1e30.
func (e Edges) Softmax(scores *Node) *Node {
	scores = e.mask("Softmax", scores)
	scores = Max(scores, loop.Like(loop.Float(scores, lowest), scores))
	p := e.bare.Softmax(StopGradient(scores))
	return loop.Custom(p, []*Node{scores}, func(v *Node) []*Node {
		return []*Node{e.bare.SoftmaxPull(p, e.Mask(v))}
	})
}

// Product is Σ_j w_ij x_j for every target i. The weights w are [places, heads], the features x are [m, heads*d], and
// the result is [n, heads*d]. The weights of a head multiply the columns of this head. Product is differentiable in w
// and x. (For several wide heads, it is several times faster to give each node a copy for each head, by
// PatternOptions.Heads.)
func (e Edges) Product(w, x *Node) *Node {
	b := e.bare
	w = e.mask("Product", w)
	checkRows("Product", "x", x, b.forward().columns)
	heads := checkHeads("Product", w.Shape().Dimensions[1], x)
	fixedW, fixedX := StopGradient(w), StopGradient(x)
	return loop.Custom(b.Product(fixedW, fixedX), []*Node{w, x}, func(v *Node) []*Node {
		return []*Node{b.Dots(v, fixedX, heads), b.TransposedProduct(b.Transpose(fixedW), v)}
	})
}

// Dots are the inner products g_i · x_j for every edge (i, j), one for each head, over the columns of this head. g is
// [n, heads*d], x is [m, heads*d], and the result is [places, heads].
func (e Edges) Dots(g, x *Node, heads int) *Node {
	b := e.bare
	checkRows("Dots", "g", g, b.forward().rows)
	checkRows("Dots", "x", x, b.forward().columns)
	checkHeads("Dots", heads, x)
	if g.Shape().Dimensions[1] != x.Shape().Dimensions[1] {
		panic(fmt.Errorf("sparse: Dots needs rows of one width, not %s and %s", g.Shape(), x.Shape()))
	}
	fixedG, fixedX := StopGradient(g), StopGradient(x)
	return loop.Custom(b.Dots(fixedG, fixedX, heads), []*Node{g, x}, func(v *Node) []*Node {
		v = e.Mask(v)
		return []*Node{b.Product(v, fixedX), b.TransposedProduct(b.Transpose(v), fixedG)}
	})
}

// checkHeads returns the given number of heads. It panics if the columns of x cannot be divided evenly among so many
// heads.
func checkHeads(operation string, heads int, x *Node) int {
	if width := x.Shape().Dimensions[1]; heads < 1 || width%heads != 0 {
		panic(fmt.Errorf("sparse: %s cannot divide %d columns among %d heads", operation, width, heads))
	}
	return heads
}
