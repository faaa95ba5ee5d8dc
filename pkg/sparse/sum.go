package sparse

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// sums is a sparse matrix inside a GoMLX computation or a loop body. Its methods compute sums over the entries of each
// row. The package's documentation explains place, length, bucket and chunk.
type sums struct {
	*sliced
	arrays bound
}

// product computes Σ_j w_ij x_j for each row i of the sparse matrix. w, [places, heads], has the weight w_ij of each
// place and head; weights of padding are 0. The argument columns, [places, 1], has for each place the number j of a row
// of x. x has d columns: first those of the first head, then those of the second head, and so on. The result has d
// columns, too. It has a row for each row of the sparse matrix, in the order by length.
func (s sums) product(w, x, columns *Node) *Node {
	d := x.Shape().Dimensions[1]
	terms, heads := x, w.Shape().Dimensions[1]
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

// addChunks returns the rows of a product. The argument parts are the sums of the first level's buckets. For each long
// row, addChunks adds up the sums of the row's chunks. x is the dense matrix of the product.
func (s sums) addChunks(parts []*Node, x *Node) *Node {
	if len(parts) == 0 {
		return BroadcastToDims(loop.Float(x, 0), 0, x.Shape().Dimensions[1])
	}
	return s.assemble(parts, func(b bucket, chunks *Node) *Node {
		return b.sum(chunks, s.arrays[chunk], func(k int) *Node { return b.term(s.arrays[chunkWeight], k) })
	})
}

// term returns the values of v at the bucket's places for term k, one value for each row of the bucket. Counting from
// 0, these are the places of the rows' k-th entries.
func (b bucket) term(v *Node, k int) *Node {
	return Slice(v, AxisRange(b.from+k*b.rows, b.from+(k+1)*b.rows))
}

// sum computes a weighted sum of rows of x for each row of the bucket. index has, for each place, the number of the row
// of x to add. weight(k) returns the weights of term k, one for each row of the bucket, in an array with as many axes
// as x.
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

// assemble returns an array with the sums of all rows of the level. Each array in parts has the sums of one of the
// level's buckets. The function sum adds up the sums of chunks: it computes the sums of a bucket of the next level from
// the sums of this level's chunks.
func (l *level) assemble(parts []*Node, sum func(b bucket, chunks *Node) *Node) *Node {
	if l.next == nil {
		return concatenate(parts)
	}
	// The sums of chunks are concatenated here, and the sums of short rows and of long rows below. A single
	// concatenation of all parts would be read by two operations: the next level, and a slice for the short rows. XLA
	// might then compute the sums twice, once for each of the two operations. If a gather is needed twice, XLA does not
	// compute it within the loop of a sum, but stores the gathered rows in memory, which is nine times slower.
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

// lowest is used in place of minus infinity, since minus infinity minus itself is NaN.
const lowest = -1e30

// fold combines the values of each row's entries by a function such as Add or Max. v, [places, k], are the values. The
// argument neutral is a number that does not change the result, such as 0 for Add. The values of padding must be this
// number, and it is the result for rows without entries. The result is [rows, k], with its rows in the order by length.
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
		each := Gather(chunks, Slice(s.arrays[chunk], AxisRange(b.from, b.from+size)))
		stored := Slice(s.arrays[chunkWeight], AxisRange(b.from, b.from+size))
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

// chunked returns an array with a row for each short row of the matrix and for each chunk of the first level. x has a
// row for each row of the matrix, in the order by length. A short row keeps its row of x, and a chunk gets the row of x
// that belongs to its long row.
func (s sums) chunked(x *Node) *Node {
	if s.next == nil {
		return x
	}
	chunks := Gather(x, s.arrays.need(owner, "values of rows"))
	if s.short == 0 {
		return chunks
	}
	return Concatenate([]*Node{Slice(x, AxisRange(0, s.short)), chunks}, 0)
}
