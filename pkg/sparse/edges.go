package sparse

import (
	"fmt"
	"math"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Attend is y_i = Σ_j p_ij x_j for every target i, as in graph attention: p is the softmax of the scores, [places,
// heads], over i's edges; x is [m, heads*d] and y [n, heads*d], 0 for targets without edges. It equals [Edges.Softmax]
// and [Edges.Product], but divides by Σ_j exp(s_ij) once for each target.
//
// If g is the cotangent of y, that of s_ij is p_ij (g_i · x_j - g_i · y_i) for each head, and that of x_j Σ_i p_ij g_i.
func (e Edges) Attend(scores, x *Node) *Node {
	b := e.bare
	b.checkPlaces("Attend", scores)
	checkRows("Attend", "x", x, b.forward().columns)
	heads := checkHeads("Attend", scores.Shape().Dimensions[1], x)
	fixed := StopGradient(x)
	finite := Max(StopGradient(scores), loop.Like(loop.Float(scores, lowest), scores))
	w := StopGradient(b.exponentials(finite))
	// The largest exponential of a row is 1: the maximum with 1 changes only the sums of rows without entries.
	total := b.Sum(w)
	total = StopGradient(Max(total, loop.Like(loop.Float(total, 1), total)))
	y := StopGradient(divided(b.Product(w, fixed), total))
	return loop.Custom(y, []*Node{scores, x}, func(g *Node) []*Node {
		g = divided(g, total)
		ds := Mul(w, Sub(b.Dots(g, fixed, heads), b.Targets(rowDots(g, y, heads))))
		return []*Node{ds, b.TransposedProduct(b.Transpose(w), g)}
	})
}

// exponentials are exp(s_ij - t_i), t_i the largest score of row i, and 0 for padding, [places, k], bucket by bucket,
// so that t_i need not be gathered.
func (e BareEdges) exponentials(scores *Node) *Node {
	f := e.forward()
	width := scores.Shape().Dimensions[1]
	return f.perBucket(f.fold(f.masked(scores, lowest), Max, lowest), func(b bucket, top *Node) *Node {
		s := b.block(scores)
		stored := GreaterThan(b.block(f.array(weight)), loop.Zeros(b.block(f.array(weight))))
		p := Exp(Sub(s, BroadcastToShape(top, s.Shape())))
		p = Where(BroadcastToShape(stored, p.Shape()), p, loop.Zeros(p))
		return Reshape(p, b.terms*b.rows, width)
	})
}

// divided divides the columns of each head in rows, [n, heads*d], by a number for each row and head, [n, heads].
func divided(rows, divisors *Node) *Node {
	each := headed(rows, divisors.Shape().Dimensions[1])
	return Reshape(Div(each, BroadcastToShape(InsertAxes(divisors, -1), each.Shape())), rows.Shape().Dimensions...)
}

// rowDots are inner products of rows of a and b, [n, heads*d], for each head: [n, heads].
func rowDots(a, b *Node, heads int) *Node { return ReduceSum(headed(Mul(a, b), heads), -1) }

// headed reshapes rows from [n, heads*d] to [n, heads, d].
func headed(rows *Node, heads int) *Node {
	return Reshape(rows, rows.Shape().Dimensions[0], heads, rows.Shape().Dimensions[1]/heads)
}

// Edges is a [Pattern] inside a computation or a loop body, with differentiable operations, for n rows (targets) and m
// columns (sources). Edge (i, j) leads from source j to target i. With copies ([PatternOptions]), each has a row and a
// column.
//
// Values of edges are [places, k]. Operations of Edges ignore padding. Entrywise functions may be applied between them;
// other operations of GoMLX need [Edges.Mask] first. With several heads, columns of features are head by head.
type Edges struct{ bare BareEdges }

// On returns the operations, for the nodes that stand for [Pattern.Tensors]. PatternOptions.Uses says which there are.
func (p *Pattern) On(nodes []*Node) Edges {
	e := BareEdges{p, nodes}
	e.bound() // panics if there are too many or too few nodes
	return Edges{e}
}

// Fixed implements [loop.Fixed]: the arrays of a pattern get no gradient.
func (Edges) Fixed() {}

// Bare returns the same operations for derivatives by hand.
func (e Edges) Bare() BareEdges { return e.bare }

// Sources gathers x_j for every edge (i, j): [m, k] to [places, k].
func (e Edges) Sources(x *Node) *Node {
	b := e.bare
	checkRows("Sources", "x", x, b.forward().columns)
	return loop.Custom(b.Sources(StopGradient(x)), []*Node{x}, func(v *Node) []*Node {
		mirrored := b.Transpose(e.Mask(v))
		return []*Node{b.backward().inOrder(b.backward().fold(mirrored, Add, 0))}
	})
}

// Targets gathers x_i for every edge (i, j): [n, k] to [places, k].
func (e Edges) Targets(x *Node) *Node {
	checkRows("Targets", "x", x, e.bare.forward().rows)
	return loop.Custom(e.bare.Targets(StopGradient(x)), []*Node{x}, func(v *Node) []*Node {
		return []*Node{e.Sum(v)}
	})
}

// Mask sets padding in v, [places, k], to 0.
func (e Edges) Mask(v *Node) *Node { return e.mask("Mask", v) }

// mask names the operation in its panic.
func (e Edges) mask(operation string, v *Node) *Node {
	e.bare.checkPlaces(operation, v)
	return e.bare.forward().masked(v, 0)
}

// Sum is Σ_j v_ij for every target i: [places, k] to [n, k]; 0 without edges.
func (e Edges) Sum(v *Node) *Node {
	v = e.mask("Sum", v)
	return loop.Custom(e.bare.Sum(StopGradient(v)), []*Node{v}, func(g *Node) []*Node {
		return []*Node{e.Targets(g)}
	})
}

// Degree is the number of edges to each target, [n, 1], in single precision.
func (e Edges) Degree() *Node { return e.bare.Sum(e.bare.Stored()) }

// Mean is the mean of v_ij over j for every target i: [places, k] to [n, k]; 0 without edges.
func (e Edges) Mean(v *Node) *Node {
	sum := e.Sum(v)
	degree := ConvertDType(e.Degree(), v.DType())
	degree = Max(degree, loop.Like(loop.Float(v, 1), degree))
	return Div(sum, BroadcastToShape(degree, sum.Shape()))
}

// Max is max_j v_ij for every target i: [places, k] to [n, k]; 0 without edges. Several largest edges share the
// gradient.
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

// Softmax is exp(s_ij) / Σ_j exp(s_ij) for scores s, [places, k], over the edges of each target, and 0 for padding. It
// does not overflow. Scores below -1e30 count as -1e30.
func (e Edges) Softmax(scores *Node) *Node {
	scores = e.mask("Softmax", scores)
	scores = Max(scores, loop.Like(loop.Float(scores, lowest), scores))
	p := e.bare.Softmax(StopGradient(scores))
	return loop.Custom(p, []*Node{scores}, func(v *Node) []*Node {
		return []*Node{e.bare.SoftmaxPull(p, e.Mask(v))}
	})
}

// Product is Σ_j w_ij x_j for every target i: w [places, heads], x [m, heads*d], result [n, heads*d]. (For several wide
// heads, copies of nodes by PatternOptions.Heads are several times faster.)
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

// Dots are g_i · x_j for every edge (i, j) and head: g [n, heads*d], x [m, heads*d], result [places, heads].
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

// checkHeads panics if the columns of x cannot be divided evenly among the heads.
func checkHeads(operation string, heads int, x *Node) int {
	if width := x.Shape().Dimensions[1]; heads < 1 || width%heads != 0 {
		panic(fmt.Errorf("sparse: %s cannot divide %d columns among %d heads", operation, width, heads))
	}
	return heads
}

// Ranked has the values of the given ranks among those of all edges, v, [places, 1] in single precision and not
// negative; rank 0 is the smallest. It has no gradient. It bisects the bits, which as integers have the order of the
// numbers: 31 passes that count, several times faster than sorting.
func (e Edges) Ranked(v *Node, ranks ...int) *Node {
	e.bare.checkPlaces("Ranked", v)
	bits := Bitcast(e.bare.forward().masked(StopGradient(v), math.Inf(1)), dtypes.Int32)
	g, k := v.Graph(), len(ranks)
	need := make([]int32, k)
	for i, r := range ranks {
		need[i] = int32(r)
	}
	// As integers, the bits of the value of each rank are greater than low and at most high.
	type bounds struct{ low, high *Node }
	type given struct{ bits, need *Node }
	all := loop.Like(loop.Int(g, 0), Const(g, need))
	whole := func(v int) *Node { return loop.Like(loop.Int(g, v), all) }
	start := bounds{Sub(all, whole(1)), whole(int(math.Float32bits(math.MaxFloat32)))}
	end := loop.Repeat(loop.Int(g, 31), start, given{bits, Const(g, need)}, func(_ *Node, s bounds, r given) bounds {
		middle := Add(s.low, Div(Sub(s.high, s.low), loop.Like(loop.Int(r.bits.Graph(), 2), s.low)))
		var counts []*Node
		for i := range k {
			limit := Reshape(Slice(middle, AxisRange(i, i+1)))
			counts = append(counts, count(LessOrEqual(r.bits, loop.Like(limit, r.bits))))
		}
		enough := GreaterThan(Concatenate(counts, 0), r.need)
		return bounds{Where(enough, s.low, middle), Where(enough, middle, s.high)}
	})
	return Bitcast(end.high, dtypes.Float32)
}

// count is the number of true values in x, [n, 1]. XLA vectorises adding up eight parts, again and again, unlike its
// own sum.
func count(x *Node) *Node {
	const blocks = 8
	x = ConvertDType(Reshape(x, -1), dtypes.Int32)
	var rest []*Node
	for n := x.Shape().Dimensions[0]; n >= blocks*blocks; n = x.Shape().Dimensions[0] {
		size := n / blocks
		if n > blocks*size {
			rest = append(rest, Slice(x, AxisRange(blocks*size)))
		}
		sum := Slice(x, AxisRange(0, size))
		for k := 1; k < blocks; k++ {
			sum = Add(sum, Slice(x, AxisRange(k*size, (k+1)*size)))
		}
		x = sum
	}
	return Reshape(ReduceAllSum(Concatenate(append(rest, x), 0)), 1)
}
