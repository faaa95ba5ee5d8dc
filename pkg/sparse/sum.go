package sparse

import (
	"fmt"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// sums is a sparse matrix inside a GoMLX computation, whose nodes stand for the arrays of laid. Its methods compute
// sums over the entries of each row.
type sums struct {
	*laid
	nodes []*Node
}

// bind returns the matrix for the nodes that stand for its arrays.
func (l *laid) bind(nodes []*Node) sums {
	if len(nodes) != len(l.tensors) {
		panic(fmt.Errorf("sparse matrix: %d nodes for %d arrays: pass what Tensors returns, in its order",
			len(nodes), len(l.tensors)))
	}
	return sums{l, nodes}
}

// array returns the node that stands for an array, or nil if this array was not made. The method need panics then.
func (s sums) array(n name) *Node {
	if i := slices.Index(s.names, n); i >= 0 {
		return s.nodes[i]
	}
	return nil
}

func (s sums) need(n name, operation string) *Node {
	a := s.array(n)
	if a == nil {
		panic(fmt.Errorf("sparse pattern: %s needs the array %q, which was not made: see PatternOptions.Uses",
			operation, n))
	}
	return a
}

// product computes Σ_j w_ij x_j for each row i of the sparse matrix, where x_j is row j of x. w, [places, heads], has
// the weight w_ij for the entry (i, j) at each place, once for each head. Padding must have the weight 0. The argument
// columns, [places, 1], has the number j for each place. x has d columns: first the columns of the first head, then the
// columns of the second head, and so on. The result has d columns in the same order. It has a row for each row of the
// sparse matrix, in the order by length.
func (s sums) product(w, x, columns *Node) *Node {
	d := x.Shape().Dimensions[1]
	terms, heads := x, 1
	if w != nil { // without entries, there are no weights
		heads = w.Shape().Dimensions[1]
	}
	if heads > 1 {
		terms = Reshape(x, -1, heads, d/heads)
	}
	var parts []*Node
	for _, b := range s.buckets {
		sum := b.sum(terms, columns, func(k int) *Node {
			if heads > 1 {
				return Reshape(b.term(w, k), b.rows, heads, 1)
			}
			return b.term(w, k)
		})
		parts = append(parts, Reshape(sum, b.rows, d))
	}
	return s.addChunks(parts, x)
}

// addChunks completes a product. The argument parts has an array for each bucket of the first level, with the sums of
// the bucket's rows. These are sums of short rows or of chunks. For each long row, addChunks adds up the sums of its
// chunks. It returns the rows of the product in the order by length. x is the dense matrix of the product. If there are
// no buckets, the result has no rows, and as many columns as x.
func (s sums) addChunks(parts []*Node, x *Node) *Node {
	if len(parts) == 0 {
		return BroadcastToDims(loop.Float(x, 0), 0, x.Shape().Dimensions[1])
	}
	return s.assemble(parts, func(b bucket, chunks *Node) *Node {
		return b.sum(chunks, s.array(chunk), func(k int) *Node { return b.term(s.array(chunkWeight), k) })
	})
}

// term returns the rows of v for term k of the bucket's rows, where k is counted from 0. v has a row for each place.
// The result has a row for each row of the bucket.
func (b bucket) term(v *Node, k int) *Node {
	return Slice(v, AxisRange(b.from+k*b.rows, b.from+(k+1)*b.rows))
}

// sum computes, for each row of the bucket, a weighted sum of rows of x. For each place, index has the number of the
// row of x to add. The function weight returns the weights of term k for all rows of the bucket. These weights are
// broadcast to the shape of the rows that are gathered from x, and therefore must have as many axes as x.
func (b bucket) sum(x, index *Node, weight func(k int) *Node) (sum *Node) {
	for k := range b.terms {
		w := weight(k)
		if w.DType() != x.DType() {
			w = ConvertDType(w, x.DType())
		}
		term := Gather(x, b.term(index, k))
		term = Mul(term, BroadcastToShape(w, term.Shape()))
		if sum == nil {
			sum = term
		} else {
			sum = Add(sum, term)
		}
	}
	if sum == nil { // rows without entries
		sum = BroadcastToDims(loop.Float(x, 0), append([]int{b.rows}, x.Shape().Dimensions[1:]...)...)
	}
	return sum
}

// assemble returns an array with the sums of all rows of the level, both short and long. The argument parts has an
// array for each bucket of the level, with the sums of the bucket's rows or chunks. The argument sum is a function that
// computes the sums of a bucket b of the next level. Its argument chunks has the sums of all chunks of this level.
func (l *level) assemble(parts []*Node, sum func(b bucket, chunks *Node) *Node) *Node {
	if l.next == nil {
		return concatenate(parts)
	}
	// The sums of chunks are concatenated here. The sums of short rows and of long rows are concatenated below. A
	// single concatenation of all parts would be slower. Two operations would read it: the gather of the next level,
	// and a slice that takes the short rows. XLA might then compute the parts twice, once for each operation. But the
	// parts are computed by gathers. If a gather is needed twice, XLA does not compute the gather within the loop that
	// adds up the gathered rows, but stores these rows in memory. This is nine times slower.
	chunks := concatenate(parts[l.whole:])
	var above []*Node
	for _, b := range l.next.buckets {
		above = append(above, sum(b, chunks))
	}
	return concatenate(append(parts[:l.whole:l.whole], l.next.assemble(above, sum)))
}

func concatenate(parts []*Node) *Node {
	if len(parts) == 1 {
		return parts[0]
	}
	return Concatenate(parts, 0)
}

// lowest is used in place of minus infinity in computations of maxima. The softmax subtracts a maximum from numbers
// that may equal it. For minus infinity, the difference would be NaN; for lowest, it is 0.
const lowest = -1e30

// fold combines the values of each row's entries by a function such as Add or Max. v, [places, k], has the values. The
// argument neutral is a number that does not change the result, such as 0 for Add. In v, padding must have this value.
// In the result, rows without entries have this value. The result is [rows, k], with its rows in the order by length.
func (s sums) fold(v *Node, combine func(a, b *Node) *Node, neutral float64) *Node {
	width := v.Shape().Dimensions[1]
	none := func(rows int) *Node { return BroadcastToDims(loop.Float(v, neutral), rows, width) }
	combined := func(b bucket, v *Node, from int) *Node {
		if b.terms == 0 {
			return none(b.rows)
		}
		b.from = from
		all := b.term(v, 0)
		for k := 1; k < b.terms; k++ {
			all = combine(all, b.term(v, k))
		}
		return all
	}
	var parts []*Node
	for _, b := range s.buckets {
		parts = append(parts, combined(b, v, b.from))
	}
	return s.assemble(parts, func(b bucket, chunks *Node) *Node {
		size := b.terms * b.rows
		each := Gather(chunks, Slice(s.array(chunk), AxisRange(b.from, b.from+size)))
		stored := Slice(s.array(chunkWeight), AxisRange(b.from, b.from+size))
		stored = BroadcastToShape(GreaterThan(stored, loop.Zeros(stored)), each.Shape())
		return combined(b, Where(stored, each, none(size)), 0)
	})
}

// spread copies the values of each row to the row's places. v is [rows, k], with its rows in the order by length, and
// the result is [places, k].
func (s sums) spread(v *Node) *Node {
	width := v.Shape().Dimensions[1]
	rows := s.chunked(v)
	var parts []*Node
	from := 0
	for _, b := range s.buckets {
		if b.terms > 0 {
			row := Reshape(Slice(rows, AxisRange(from, from+b.rows)), 1, b.rows, width)
			parts = append(parts, Reshape(BroadcastToDims(row, b.terms, b.rows, width), b.terms*b.rows, width))
		}
		from += b.rows
	}
	return concatenate(parts)
}

// chunked copies rows of x to short rows and to chunks. x has a row for each row of the sparse matrix, in the order by
// length. The result has a row for each short row, and then a row for each chunk of the first level. A short row gets
// its own row of x. A chunk gets the row of x of the long row that the chunk is a part of.
func (s sums) chunked(x *Node) *Node {
	if s.next == nil {
		return x
	}
	chunks := Gather(x, s.need(owner, "values of rows"))
	if s.short == 0 {
		return chunks
	}
	return Concatenate([]*Node{Slice(x, AxisRange(0, s.short)), chunks}, 0)
}
