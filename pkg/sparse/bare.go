package sparse

import (
	"cmp"
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

func (e BareEdges) bound() (forward, backward sums) {
	return bindBoth(e.p.forward, cmp.Or(e.p.backward, e.p.forward), e.nodes)
}

func (e BareEdges) forward() sums {
	f, _ := e.bound()
	return f
}

func (e BareEdges) backward() sums {
	_, b := e.bound()
	return b
}

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

// Keeping is a symmetric pattern without the edges where keep, [places, 1], is 0 and not 1. Where it differs between
// the directions of an edge, operations that use the transpose return values other than 0 for dropped edges.
func (e BareEdges) Keeping(keep *Node) BareEdges {
	if !e.p.symmetric {
		panic(fmt.Errorf("sparse pattern: Keeping needs every edge in both directions"))
	}
	at := slices.Index(e.p.forward.names, weight)
	e.nodes = slices.Clone(e.nodes)
	e.nodes[at] = Mul(e.nodes[at], keep)
	return e
}

func (s sums) byLength(x *Node) *Node {
	if s.array(fromOrder) == nil {
		return x
	}
	return Gather(x, s.array(fromOrder))
}

// Sources gathers x_j for each entry (i, j): [m, k] to [places, k]. Targets gathers x_i.
func (e BareEdges) Sources(x *Node) *Node { return Gather(x, e.forward().array(column)) }

func (e BareEdges) Targets(x *Node) *Node { return Gather(x, e.forward().need(rowOf, "Targets")) }

func (e BareEdges) Symmetric() bool { return e.p.symmetric }

// Stored is 1 for entries and 0 for padding, [places, 1].
func (e BareEdges) Stored() *Node { return e.forward().array(weight) }

// Mask multiplies values of padding, which must be finite, by 0.
func (e BareEdges) Mask(v *Node) *Node {
	stored := e.Stored()
	if stored.DType() != v.DType() {
		stored = ConvertDType(stored, v.DType())
	}
	return Mul(v, BroadcastToShape(stored, v.Shape()))
}

// masked replaces values of padding.
func (s sums) masked(v *Node, padding float64) *Node {
	stored := GreaterThan(s.array(weight), loop.Zeros(s.array(weight)))
	return Where(BroadcastToShape(stored, v.Shape()), v, loop.Like(loop.Float(v, padding), v))
}

// Sum is Σ_j v_ij for every row i, [n, k]. v must be 0 for padding.
func (e BareEdges) Sum(v *Node) *Node { return e.forward().inOrder(e.forward().fold(v, Add, 0)) }

// Max is max_j v_ij for every row i, [n, k], and -1e30 for rows without entries.
func (e BareEdges) Max(v *Node) *Node {
	return e.forward().inOrder(e.forward().fold(e.forward().masked(v, lowest), Max, lowest))
}

// Product is Σ_j w_ij x_j for every row i: w [places, heads], 0 for padding; x [m, heads*d], head by head.
func (e BareEdges) Product(w, x *Node) *Node { return e.Products([]*Node{x}, []*Node{w})[0] }

// Products is [BareEdges.Product] for one or two pairs. Features may have one row per node, which all its copies read.
// The second pair gathers by a copy of the array of columns: with one array, XLA would gather equal features once and
// store the rows, several times slower than gathering twice inside the loops of the sums.
func (e BareEdges) Products(sources, weights []*Node) []*Node {
	out := make([]*Node, len(sources))
	for i, x := range sources {
		array := []name{column, columnAgain}[i]
		if x.Shape().Dimensions[0] < e.forward().columns {
			array = node
		}
		out[i] = e.forward().inOrder(e.forward().product(weights[i], x, e.forward().need(array, "a product")))
	}
	return out
}

// TransposedProduct is Σ_i w_ij g_i for every column j, with the weights at the places of the transpose (see
// [BareEdges.Transpose]).
func (e BareEdges) TransposedProduct(w, g *Node) *Node {
	if e.p.backward == nil && !e.p.symmetric {
		panic(fmt.Errorf("sparse pattern: TransposedProduct needs the transpose, which was not made: " +
			"see PatternOptions.Uses"))
	}
	return e.backward().inOrder(e.backward().product(w, g, e.backward().array(column)))
}

// Transpose moves weights to the places of the transpose. Weights of padding stay if the pattern is symmetric, else
// they are 0.
func (e BareEdges) Transpose(w *Node) *Node {
	w = Gather(w, e.backward().need(mirror, "Transpose"))
	if e.p.Symmetric() {
		return w
	}
	return e.backward().masked(w, 0)
}

// Dots are g_i · x_j for every entry (i, j), over the columns of each head: [places, heads].
func (e BareEdges) Dots(g, x *Node, heads int) *Node {
	s, width := e.forward(), x.Shape().Dimensions[1]
	if heads > 1 && !s.gpu {
		g, x = channelsFirst(g, heads), channelsFirst(x, heads)
	}
	return s.perBucket(s.byLength(g), func(b bucket, own *Node) *Node {
		gathered := Gather(x, b.block(s.array(column)))
		own = BroadcastToShape(own, gathered.Shape())
		products := Reshape(Mul(gathered, own), b.terms*b.rows, width)
		if s.gpu {
			return ReduceSum(headed(products, heads), -1)
		}
		return headSums(products, heads)
	})
}

// channelsFirst reorders columns from head by head to channel by channel.
func channelsFirst(x *Node, heads int) *Node {
	d := x.Shape().Dimensions[1] / heads
	return moved(x, func(i int) int { return i%d*heads + i/d })
}

// moved brings the column at position i to to(i), by a product with a permutation matrix: XLA would compute a slice or
// a transposition again in every operation that reads it, but stores a product.
func moved(x *Node, to func(i int) int) *Node {
	permutation := make([][]float32, x.Shape().Dimensions[1])
	for i := range permutation {
		permutation[i] = make([]float32, len(permutation))
		permutation[i][to(i)] = 1
	}
	return Dot(x, ConvertDType(Const(x.Graph(), permutation), x.DType())).Product()
}

// headSums adds up the columns, channel by channel, of each head. The last step is a matrix product, so that XLA stores
// the result. (One product for all channels takes seven times as long with 8 heads on Tolokers.)
func headSums(x *Node, heads int) *Node {
	width := x.Shape().Dimensions[1]
	if heads == 1 {
		return Dot(x, BroadcastToDims(loop.Float(x, 1), width, 1)).Product()
	}
	var sum *Node
	for from := 0; from < width; from += heads {
		sum = loop.Accumulate(sum, Slice(x, AxisRange(), AxisRange(from, from+heads)))
	}
	return moved(sum, func(i int) int { return i })
}

// Diagonal is 1 for entries (i, i), else 0, [places, 1].
func (e BareEdges) Diagonal() *Node { return e.forward().need(diagonal, "Diagonal") }

// Softmax is exp(s_ij - t_i) / Σ_j exp(s_ij - t_i), t_i the largest score of row i, and 0 for padding.
func (e BareEdges) Softmax(scores *Node) *Node {
	scores = e.forward().masked(scores, lowest)
	top := e.forward().fold(scores, Max, lowest)
	p := e.forward().masked(Exp(Sub(scores, e.forward().spread(top))), 0)
	return Div(p, e.forward().spread(e.forward().fold(p, Add, 0)))
}

// SoftmaxPull is the cotangent of the scores, p_ij (v_ij - Σ_j p_ij v_ij), given the cotangent v of the result p of
// Softmax; v must be finite for padding.
func (e BareEdges) SoftmaxPull(p, v *Node) *Node {
	return Mul(p, Sub(v, e.forward().spread(e.forward().fold(Mul(p, v), Add, 0))))
}

func (e BareEdges) checkPlaces(operation string, v *Node) {
	if dims := v.Shape().Dimensions; len(dims) != 2 || dims[0] != e.p.Places() {
		panic(fmt.Errorf("sparse: %s needs values of edges of shape [%d, any], not %v", operation, e.p.Places(), dims))
	}
}
