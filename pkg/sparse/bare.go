package sparse

import (
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// BareEdges is a [Pattern] inside a graph or a loop body, for blocks in loops and for derivatives by hand. Its
// operations have no derivatives of their own (GoMLX's would use scatters). Values of edges are [places, k]; those of
// padding are arbitrary unless an operation says otherwise.
type BareEdges struct {
	p                 *Pattern
	forward, backward sums
}

// Bare binds the pattern to the nodes that hold [Pattern.Tensors].
func (p *Pattern) Bare(nodes []*Node) BareEdges {
	backward := p.backward
	if backward == nil {
		backward = p.forward
	}
	f, b := bindBoth(p.forward, backward, nodes)
	return BareEdges{p, f, b}
}

// byLength reorders rows from the order of nodes to that by row length.
func (s sums) byLength(x *Node) *Node {
	if s.arrays[fromOrder] == nil {
		return x
	}
	return Gather(x, s.arrays[fromOrder])
}

// Sources gathers x_j for each entry (i, j), [m, k] to [places, k].
func (e BareEdges) Sources(x *Node) *Node { return Gather(x, e.forward.arrays[column]) }

// Targets gathers x_i for each entry (i, j), [n, k] to [places, k].
func (e BareEdges) Targets(x *Node) *Node { return Gather(x, e.forward.arrays.need(rowOf, "Targets")) }

// Symmetric is [Pattern.Symmetric].
func (e BareEdges) Symmetric() bool { return e.p.symmetric }

// Stored is 1 for entries and 0 for padding, [places, 1].
func (e BareEdges) Stored() *Node { return e.forward.arrays[weight] }

// Mask zeroes the values of padding, which must be finite.
func (e BareEdges) Mask(v *Node) *Node {
	stored := e.Stored()
	if stored.DType() != v.DType() {
		stored = ConvertDType(stored, v.DType())
	}
	return Mul(v, BroadcastToShape(stored, v.Shape()))
}

// masked replaces the values of padding by a number.
func (s sums) masked(v *Node, padding float64) *Node {
	stored := GreaterThan(s.arrays[weight], loop.Zeros(s.arrays[weight]))
	return Where(BroadcastToShape(stored, v.Shape()), v, loop.Like(loop.Float(v, padding), v))
}

// Sum is Σ_j v_ij, [places, k] to [n, k]; v must be 0 for padding.
func (e BareEdges) Sum(v *Node) *Node { return e.forward.inOrder(e.forward.fold(v, Add, 0)) }

// Max is max_j v_ij, [places, k] to [n, k], and -1e30 for rows without entries.
func (e BareEdges) Max(v *Node) *Node {
	return e.forward.inOrder(e.forward.fold(e.forward.masked(v, lowest), Max, lowest))
}

// Product is Σ_j w_ij x_j for weights [places, heads] that are 0 for padding, and x, [m, d], whose columns are head
// by head: [n, d].
func (e BareEdges) Product(w, x *Node) *Node { return e.Products([]*Node{x}, []*Node{w})[0] }

// Products are Σ_j w_ij x_j for up to two pairs of sources x and weights w, as in [BareEdges.Product]. A source may
// also be [m/heads, d], the same for all heads of a pattern. Each pair reads its own array of columns: XLA merges
// equal gathers, and then computes them separately, several times slower than fused into each use.
func (e BareEdges) Products(sources, weights []*Node) []*Node {
	out := make([]*Node, len(sources))
	for i, x := range sources {
		array := []name{column, columnTwin}[i]
		if x.Shape().Dimensions[0] < e.forward.columns {
			array = node
		}
		out[i] = e.forward.inOrder(e.forward.product(weights[i], x, e.forward.arrays.need(array, "a product")))
	}
	return out
}

// TransposedProduct is Σ_i w_ij g_i, [n, d] to [m, d], for weights w that [BareEdges.Transpose] returned.
func (e BareEdges) TransposedProduct(w, g *Node) *Node {
	return e.backward.inOrder(e.backward.product(w, g, e.backward.arrays[column]))
}

// Transpose rearranges weights for the transpose: its entry (i, j) gets w_ji. In a symmetric pattern the transpose has
// the same places.
func (e BareEdges) Transpose(w *Node) *Node {
	w = Gather(w, e.backward.arrays.need(mirror, "Transpose"))
	if e.p.Symmetric() {
		return w
	}
	return e.backward.masked(w, 0)
}

// Dots are g_i · x_j for every entry (i, j) and head, given g, [n, heads d], and x, [m, heads d]: [places, heads].
func (e BareEdges) Dots(g, x *Node, heads int) *Node {
	s, width, group := e.forward, x.Shape().Dimensions[1], math.MaxInt
	if heads == 1 {
		group = cached
	} else {
		g, x = channelsFirst(g, heads), channelsFirst(x, heads)
	}
	rows := s.chunked(s.byLength(g))
	var parts []*Node
	from := 0
	for _, b := range s.buckets {
		// Where products lie in memory, a few terms at a time, so that they stay in the cache.
		group := max(1, group/max(1, b.rows*width))
		for k := 0; k < b.terms; k += group {
			terms := min(group, b.terms-k)
			index := Slice(s.arrays[column], AxisRange(b.from+k*b.rows, b.from+(k+terms)*b.rows))
			gathered := Gather(x, Reshape(index, terms, b.rows, 1))
			own := Reshape(Slice(rows, AxisRange(from, from+b.rows)), 1, b.rows, width)
			own = BroadcastToShape(own, gathered.Shape())
			parts = append(parts, headSums(Reshape(Mul(gathered, own), terms*b.rows, width), heads))
		}
		from += b.rows
	}
	return concatenate(parts)
}

// channelsFirst reorders columns from head by head to channel by channel, [n, heads d] to [n, d heads].
func channelsFirst(x *Node, heads int) *Node {
	d := x.Shape().Dimensions[1] / heads
	return moved(x, func(i int) int { return i%d*heads + i/d })
}

// moved moves column i of x to column to(i). It multiplies by a permutation matrix, whose result lies in memory; XLA
// would repeat a move of entries at every place that reads them.
func moved(x *Node, to func(i int) int) *Node {
	permutation := make([][]float32, x.Shape().Dimensions[1])
	for i := range permutation {
		permutation[i] = make([]float32, len(permutation))
		permutation[i][to(i)] = 1
	}
	return Dot(x, ConvertDType(Const(x.Graph(), permutation), x.DType())).Product()
}

// headSums adds up the columns of each head, [m, d heads] to [m, heads], channel by channel. The last step is a
// product, whose result lies in memory; XLA would repeat other operations for each use. (One product over all channels
// takes seven times as long with 8 heads on Tolokers.)
func headSums(x *Node, heads int) *Node {
	width := x.Shape().Dimensions[1]
	if heads == 1 {
		return Dot(x, BroadcastToDims(loop.Float(x, 1), width, 1)).Product()
	}
	var sum *Node
	for from := 0; from < width; from += heads {
		part := Slice(x, AxisRange(), AxisRange(from, from+heads))
		if sum == nil {
			sum = part
		} else {
			sum = Add(sum, part)
		}
	}
	return moved(sum, func(i int) int { return i })
}

// cached is the number of products that Dots computes at a time, so that they fit into the cache.
const cached = 1 << 18

// Diagonal is 1 where i = j, else 0: [places, 1].
func (e BareEdges) Diagonal() *Node { return e.forward.arrays.need(diagonal, "Diagonal") }

// Softmax normalises scores [places, k] over each row: exp(s_ij - max_j s_ij) / Σ_j exp(s_ij - max_j s_ij), zero
// for padding. The largest term of every row is 1 before the division, so that neither large scores nor long rows
// overflow or vanish.
func (e BareEdges) Softmax(scores *Node) *Node {
	scores = e.forward.masked(scores, lowest)
	top := e.forward.fold(scores, Max, lowest)
	p := e.forward.masked(Exp(Sub(scores, e.forward.spread(top))), 0)
	return Div(p, e.forward.spread(e.forward.fold(p, Add, 0)))
}

// SoftmaxPull is the cotangent of the scores, given the cotangent v of p = Softmax(scores): p_ij (v_ij - Σ_k p_ik
// v_ik). Values v of padding must be finite.
func (e BareEdges) SoftmaxPull(p, v *Node) *Node {
	return Mul(p, Sub(v, e.forward.spread(e.forward.fold(Mul(p, v), Add, 0))))
}

// checkPlaces panics unless v has a row for each of the pattern's places.
func (e BareEdges) checkPlaces(operation string, v *Node) {
	if dims := v.Shape().Dimensions; len(dims) != 2 || dims[0] != e.p.Places() {
		panic(fmt.Errorf("sparse: %s needs values of edges of shape [%d, any], not %v", operation, e.p.Places(), dims))
	}
}
