package sparse

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// sums are the sums of a layout's rows in a graph or a loop body.
type sums struct {
	*sliced
	arrays bound
}

// product is Σ_j w_ij x_j with weights w, [places, heads], that are 0 for padding; columns holds the row of x for
// each place. x is [columns, d], head beside head; the result [rows, d], by length.
func (s sums) product(w, x, columns *Node) *Node {
	d := x.Shape().Dimensions[1]
	terms, heads := x, 1
	if w != nil {
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

// addChunks makes the rows of a product from the sums of the first level.
func (s sums) addChunks(parts []*Node, x *Node) *Node {
	if len(parts) == 0 {
		return BroadcastToDims(loop.Float(x, 0), 0, x.Shape().Dimensions[1])
	}
	return s.assemble(parts, func(b bucket, chunks *Node) *Node {
		return b.sum(chunks, s.arrays[chunk], func(k int) *Node { return b.term(s.arrays[chunkWeight], k) })
	})
}

// term are the values of a bucket's entries number k.
func (b bucket) term(v *Node, k int) *Node {
	return Slice(v, AxisRange(b.from+k*b.rows, b.from+(k+1)*b.rows))
}

// sum is the sum of a bucket's rows of x, each times its weight; weight gives those of term k, of the terms' rank.
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

// assemble makes the rows of a level from those of its buckets; sum gives the rows of a bucket of a level below,
// out of the level above's chunks.
func (l *level) assemble(parts []*Node, sum func(b bucket, chunks *Node) *Node) *Node {
	if l.next == nil {
		return concatenate(parts)
	}
	// The chunks are joined on their own. A concatenation of all parts, read by the next level and sliced for the
	// short rows, XLA may split in two, whose gathers then have two uses, fuse into neither and fill memory (nine
	// times slower).
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

// lowest stands for minus infinity, whose differences are not numbers.
const lowest = -1e30

// fold combines the values of every row's entries, [places, k] to [rows, k], by length; rows without entries become
// neutral, which padding must be.
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

// spread gives every place the value of its row: [rows, k], by length, to [places, k].
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

// chunked repeats rows for every chunk of a long row: as many rows as the first level has.
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
