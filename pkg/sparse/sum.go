package sparse

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// sums computes sums over the entries of each row of a sparse matrix. It is used in GoMLX computations, in and outside
// of loop bodies. The words "place" and "length" are explained at [sliced].
type sums struct {
	*sliced
	arrays bound
}

// product computes Σ_j w_ij x_j for each row i of the sparse matrix. A place holds one entry (i, j) of the matrix, or
// padding. w, [places, heads], has the weights w_ij of each head; they are 0 for padding. The argument columns,
// [places], has the number j of the row of x that each place reads. x has d columns: first those of the first head,
// then those of the second head, and so on. The result has d columns, too, and a row for each row of the matrix. Its
// rows are sorted by length, which is their number of entries (see [sliced]).
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

// addChunks returns the rows of a product, given the sums of the first level's buckets. It adds up the sums of the
// chunks that long rows are cut into. x is the matrix that is multiplied.
func (s sums) addChunks(parts []*Node, x *Node) *Node {
	if len(parts) == 0 {
		return BroadcastToDims(loop.Float(x, 0), 0, x.Shape().Dimensions[1])
	}
	return s.assemble(parts, func(b bucket, chunks *Node) *Node {
		return b.sum(chunks, s.arrays[chunk], func(k int) *Node { return b.term(s.arrays[chunkWeight], k) })
	})
}

// term returns the values of v at the k-th places of all rows of the bucket.
func (b bucket) term(v *Node, k int) *Node {
	return Slice(v, AxisRange(b.from+k*b.rows, b.from+(k+1)*b.rows))
}

// sum is the weighted sum of each row of the bucket. Its terms are rows of x; index holds their numbers. weight(k)
// returns the weights of all rows' k-th terms, with as many axes as x.
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

// assemble joins parts, the sums of a level's buckets, into the level's rows. To add up the chunks of long rows it
// calls sum, which computes a bucket of the next level from the sums of this level's chunks.
func (l *level) assemble(parts []*Node, sum func(b bucket, chunks *Node) *Node) *Node {
	if l.next == nil {
		return concatenate(parts)
	}
	// The sums of chunks are concatenated apart from the sums of short rows. One concatenation of all parts would have
	// two uses: the next level reads it, and the short rows are a slice of it. XLA might then split it in two. The
	// gathers would have two uses as well, so that XLA would fuse them into neither sum, and would store their results
	// in memory. This is nine times slower.
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

// lowest is used in place of minus infinity, since the difference of two infinities is NaN.
const lowest = -1e30

// fold combines the values v, [places, k], of each row's entries by a function such as Add or Max. The result is [rows,
// k], with its rows sorted by length. Padding must have the value neutral. neutral is also the result for rows without
// entries.
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

// spread gives every place the value of its row: v is [rows, k], with its rows sorted by length, and the result is
// [places, k].
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

// chunked replaces each row of x that is cut into chunks by one copy for each chunk. The result has as many rows as the
// first level has short rows and chunks.
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
