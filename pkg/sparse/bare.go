package sparse

import (
	"fmt"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// BareEdges are [Edges] for derivatives that are written by hand: their operations have no derivatives and do less.
// Values of padding may be anything unless an operation says otherwise.
type BareEdges struct {
	p     *Pattern
	nodes []*Node
}

// Fixed implements [loop.Fixed]: the arrays of a pattern get no gradient.
func (BareEdges) Fixed() {}

// bound returns the pattern and its transpose for the nodes that stand for their arrays.
func (e BareEdges) bound() (forward, backward sums) {
	if e.p.backward == nil {
		return bindBoth(e.p.forward, e.p.forward, e.nodes)
	}
	return bindBoth(e.p.forward, e.p.backward, e.nodes)
}

func (e BareEdges) forward() sums {
	f, _ := e.bound()
	return f
}

func (e BareEdges) backward() sums {
	_, b := e.bound()
	return b
}

// Edges are the same operations with derivatives.
func (e BareEdges) Edges() Edges { return Edges{e} }

// Places is the number of rows of values of edges. Heads is the number of copies of each node.
func (e BareEdges) Places() int { return e.p.Places() }
func (e BareEdges) Heads() int  { return e.p.copies }

// Operator is the symmetric matrix whose weights are the values w, [places, 1], of the edges, which must be 0 for
// padding and equal for both directions of an edge. The weights get no gradient.
func (e BareEdges) Operator(w *Node) Operator {
	if !e.p.symmetric {
		panic(fmt.Errorf("sparse pattern: Operator needs every edge in both directions"))
	}
	return Operator{forward: e.p.forward, backward: e.p.forward, nodes: e.nodes[:len(e.p.forward.tensors)], weights: w}
}

// Keeping returns the edges of a symmetric pattern without some of them: an edge stays where keep, [places, 1], is 1,
// and becomes padding where it is 0. Where keep differs between the two directions of an edge, operations that use the
// transpose return values other than 0 for edges that were dropped.
func (e BareEdges) Keeping(keep *Node) BareEdges {
	if !e.p.symmetric {
		panic(fmt.Errorf("sparse pattern: Keeping needs every edge in both directions"))
	}
	at := slices.Index(e.p.forward.names, weight)
	e.nodes = slices.Clone(e.nodes)
	e.nodes[at] = Mul(e.nodes[at], keep)
	return e
}

// byLength reorders the rows of x from the model's order to the order by length.
func (s sums) byLength(x *Node) *Node {
	if s.array(fromOrder) == nil {
		return x
	}
	return Gather(x, s.array(fromOrder))
}

// Sources gathers the features x_j of the source of each entry (i, j). x is [m, k], and the result is [places, k].
func (e BareEdges) Sources(x *Node) *Node { return Gather(x, e.forward().array(column)) }

// Targets gathers the features x_i of the target of each entry (i, j). x is [n, k], and the result is [places, k].
func (e BareEdges) Targets(x *Node) *Node { return Gather(x, e.forward().need(rowOf, "Targets")) }

// Symmetric tells whether the pattern is symmetric; see [Pattern.Symmetric].
func (e BareEdges) Symmetric() bool { return e.p.symmetric }

// Stored returns an array [places, 1], which has 1 for entries and 0 for padding.
func (e BareEdges) Stored() *Node { return e.forward().array(weight) }

// Mask sets the values of padding in v to 0. It multiplies them by 0, so that they must be finite.
func (e BareEdges) Mask(v *Node) *Node {
	stored := e.Stored()
	if stored.DType() != v.DType() {
		stored = ConvertDType(stored, v.DType())
	}
	return Mul(v, BroadcastToShape(stored, v.Shape()))
}

// masked replaces the values of padding in v by the number that the argument padding gives.
func (s sums) masked(v *Node, padding float64) *Node {
	stored := GreaterThan(s.array(weight), loop.Zeros(s.array(weight)))
	return Where(BroadcastToShape(stored, v.Shape()), v, loop.Like(loop.Float(v, padding), v))
}

// Sum adds up the values of each row's entries: it is Σ_j v_ij for every row i. v is [places, k], and must be 0 for
// padding. The result is [n, k].
func (e BareEdges) Sum(v *Node) *Node { return e.forward().inOrder(e.forward().fold(v, Add, 0)) }

// Max is the largest value of each row's entries: max_j v_ij for every row i. v is [places, k], and the result is
// [n, k]. The maximum is -1e30 for rows without entries.
func (e BareEdges) Max(v *Node) *Node {
	return e.forward().inOrder(e.forward().fold(e.forward().masked(v, lowest), Max, lowest))
}

// Product is Σ_j w_ij x_j for every row i. The weights w are [places, heads], and must be 0 for padding. The features x
// are [m, heads*d], with their columns head by head. The result is [n, heads*d]. The weights of a head multiply the
// columns of this head.
func (e BareEdges) Product(w, x *Node) *Node { return e.Products([]*Node{x}, []*Node{w})[0] }

// Products computes Σ_j w_ij x_j, as [BareEdges.Product] does, for one or two pairs of features x and weights w. The
// argument sources lists the features of each pair, and the argument weights lists the weights of each pair. The
// features have m rows. If each node has several copies (see [PatternOptions]), the features may instead have one row
// for each node, which all copies of the node read.
//
// Features with m rows are gathered by an array with the column of each place. This array exists twice: the first pair
// uses one array, and the second pair uses the other. If both pairs used the same array and had the same features, XLA
// would gather only once and store the gathered rows in memory. This is several times slower than gathering twice, each
// time within the loop that computes the sum.
func (e BareEdges) Products(sources, weights []*Node) []*Node {
	out := make([]*Node, len(sources))
	for i, x := range sources {
		array := []name{column, columnTwin}[i]
		if x.Shape().Dimensions[0] < e.forward().columns {
			array = node
		}
		out[i] = e.forward().inOrder(e.forward().product(weights[i], x, e.forward().need(array, "a product")))
	}
	return out
}

// TransposedProduct is Σ_i w_ij g_i for every column j. g is [n, heads*d], and the result is [m, heads*d]. The argument
// w holds the weights at the places of the transpose. [BareEdges.Transpose] moves the weights there from the places of
// the pattern.
func (e BareEdges) TransposedProduct(w, g *Node) *Node {
	if e.p.backward == nil && !e.p.symmetric {
		panic(fmt.Errorf("sparse pattern: TransposedProduct needs the transpose, which was not made: " +
			"see PatternOptions.Uses"))
	}
	return e.backward().inOrder(e.backward().product(w, g, e.backward().array(column)))
}

// Transpose moves weights from the places of the pattern to the places of its transpose: entry (i, j) of the transpose
// gets the weight w_ji. Weights of padding stay as they are if the pattern is symmetric, and are set to 0 otherwise.
func (e BareEdges) Transpose(w *Node) *Node {
	w = Gather(w, e.backward().need(mirror, "Transpose"))
	if e.p.Symmetric() {
		return w
	}
	return e.backward().masked(w, 0)
}

// Dots are the inner products g_i · x_j for every entry (i, j), one for each head, over the columns of this head. g is
// [n, heads*d], x is [m, heads*d], and the result is [places, heads].
func (e BareEdges) Dots(g, x *Node, heads int) *Node {
	s, width := e.forward(), x.Shape().Dimensions[1]
	if heads > 1 {
		g, x = channelsFirst(g, heads), channelsFirst(x, heads)
	}
	rows := s.chunked(s.byLength(g))
	var parts []*Node
	from := 0
	for _, b := range s.buckets {
		index := Slice(s.array(column), AxisRange(b.from, b.from+b.terms*b.rows))
		gathered := Gather(x, Reshape(index, b.terms, b.rows, 1))
		own := Reshape(Slice(rows, AxisRange(from, from+b.rows)), 1, b.rows, width)
		own = BroadcastToShape(own, gathered.Shape())
		parts = append(parts, headSums(Reshape(Mul(gathered, own), b.terms*b.rows, width), heads))
		from += b.rows
	}
	return concatenate(parts)
}

// channelsFirst reorders the columns of x, [n, heads*d]. At first they are head by head: all columns of head 0, then
// all columns of head 1, and so on. Afterwards they are channel by channel: the first column of every head, then the
// second column of every head, and so on.
func channelsFirst(x *Node, heads int) *Node {
	d := x.Shape().Dimensions[1] / heads
	return moved(x, func(i int) int { return i%d*heads + i/d })
}

// moved changes the order of the columns of x: the column at position i gets the position to(i). This is done by a
// product with a permutation matrix. A slice or a transposition would have the same result, but XLA would compute it
// again in every operation that reads the result. XLA computes a matrix product only once, and stores it in memory.
func moved(x *Node, to func(i int) int) *Node {
	permutation := make([][]float32, x.Shape().Dimensions[1])
	for i := range permutation {
		permutation[i] = make([]float32, len(permutation))
		permutation[i][to(i)] = 1
	}
	return Dot(x, ConvertDType(Const(x.Graph(), permutation), x.DType())).Product()
}

// headSums adds up the columns of each head. x is [rows, d*heads], with its columns channel by channel (see
// [channelsFirst]), and the result is [rows, heads]. The last step is a matrix product, so that XLA computes the result
// once and stores it in memory (see [moved]). If there are several heads, the last step is a product with the identity
// matrix. (A single matrix product that adds up all channels takes seven times as long, measured with 8 heads on the
// dataset Tolokers.)
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

// Diagonal returns an array [places, 1], which has 1 for entries (i, i) and 0 for all other places.
func (e BareEdges) Diagonal() *Node { return e.forward().need(diagonal, "Diagonal") }

// Softmax is exp(s_ij - t_i) / Σ_j exp(s_ij - t_i) for scores s, where t_i is the largest score of row i. It is 0 for
// padding. The scores and the result are [places, k]. Since t_i is subtracted, the largest exponential of every row is
// 1. So no exponential overflows, and the sum is not 0.
func (e BareEdges) Softmax(scores *Node) *Node {
	scores = e.forward().masked(scores, lowest)
	top := e.forward().fold(scores, Max, lowest)
	p := e.forward().masked(Exp(Sub(scores, e.forward().spread(top))), 0)
	return Div(p, e.forward().spread(e.forward().fold(p, Add, 0)))
}

// SoftmaxPull is the derivative of [BareEdges.Softmax], for backpropagation. The argument p is the result of Softmax,
// and v is the cotangent of p. The result is the cotangent of the scores: p_ij (v_ij - u_i), where u_i = Σ_j p_ij v_ij.
// The three arrays p, v and the result are [places, k]. The values of v for padding must be finite.
func (e BareEdges) SoftmaxPull(p, v *Node) *Node {
	return Mul(p, Sub(v, e.forward().spread(e.forward().fold(Mul(p, v), Add, 0))))
}

// checkPlaces panics unless v is a matrix with a row for each of the pattern's places.
func (e BareEdges) checkPlaces(operation string, v *Node) {
	if dims := v.Shape().Dimensions; len(dims) != 2 || dims[0] != e.p.Places() {
		panic(fmt.Errorf("sparse: %s needs values of edges of shape [%d, any], not %v", operation, e.p.Places(), dims))
	}
}
