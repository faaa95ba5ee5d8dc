package sparse

import (
	"fmt"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// sums is a sparse matrix inside a computation, with sums over the entries of rows.
type sums struct {
	*sliced
	nodes []*Node
}

func (l *sliced) bind(nodes []*Node) sums {
	if len(nodes) != len(l.tensors) {
		panic(fmt.Errorf("sparse matrix: %d nodes for %d arrays: pass what Tensors returns, in its order",
			len(nodes), len(l.tensors)))
	}
	return sums{l, nodes}
}

// array stands for an array, or is nil if this was not made; need panics then.
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

// product is Σ_j w_ij x_j for each row i, by length: w, [places, heads], is 0 for padding; columns, [places, 1], has
// the j; x has its columns head by head.
func (s sums) product(w, x, columns *Node) *Node {
	d := x.Shape().Dimensions[1]
	terms, heads := x, 1
	if w != nil { // without entries, there are no weights
		heads = w.Shape().Dimensions[1]
	}
	if heads > 1 {
		terms = Reshape(x, -1, heads, d/heads)
	}
	w = s.fence(w)
	var parts []*Node
	for _, b := range s.buckets {
		parts = append(parts, Reshape(s.sum(b, terms, columns, w), b.rows, d))
	}
	if len(parts) == 0 { // a matrix without rows
		return BroadcastToDims(loop.Float(x, 0), 0, d)
	}
	return s.fence(s.assemble(parts, func(b bucket, chunks *Node) *Node {
		return s.sum(b, s.fence(chunks), s.array(chunk), s.array(chunkWeight))
	}))
}

// fence keeps XLA for GPUs from computing x again in each kernel that reads it.
func (l *sliced) fence(x *Node) *Node {
	if !l.gpu || x == nil || x.Shape().Size() < 2 {
		return x
	}
	return OptimizationBarriers(x, loop.Float(x, 0))[0]
}

// term is term k of v, which has a row for each place, for all rows of the bucket.
func (b bucket) term(v *Node, k int) *Node {
	return Slice(v, AxisRange(b.from+k*b.rows, b.from+(k+1)*b.rows))
}

// block is what v has for the places of the bucket: [terms, rows, …].
func (b bucket) block(v *Node) *Node {
	return Reshape(Slice(v, AxisRange(b.from, b.from+b.terms*b.rows)),
		append([]int{b.terms, b.rows}, v.Shape().Dimensions[1:]...)...)
}

// sum is, for each row of the bucket, a sum of the rows of x at index, with the weights w, which has as many axes as x:
// on CPUs one gather for each term, which XLA fuses into a loop over rows; on GPUs one gather for all.
func (l *sliced) sum(b bucket, x, index, w *Node) (sum *Node) {
	if b.terms == 0 { // rows without entries
		return BroadcastToDims(loop.Float(x, 0), append([]int{b.rows}, x.Shape().Dimensions[1:]...)...)
	}
	weighted := func(of func(v *Node) *Node) *Node {
		w := of(w)
		if x.Rank() > 2 { // a weight for each head
			w = Reshape(w, append(slices.Clone(w.Shape().Dimensions), 1)...)
		}
		if w.DType() != x.DType() {
			w = ConvertDType(w, x.DType())
		}
		rows := Gather(x, of(index))
		return Mul(rows, BroadcastToShape(w, rows.Shape()))
	}
	if l.gpu {
		return halved(weighted(b.block), Add)
	}
	for k := range b.terms {
		sum = loop.Accumulate(sum, weighted(func(v *Node) *Node { return b.term(v, k) }))
	}
	return sum
}

// halved combines x along its first axis, of n terms, in log n steps.
func halved(x *Node, combine func(a, b *Node) *Node) *Node {
	part := func(from, to int) *Node { return Slice(x, AxisRange(from, to)) }
	var odd *Node
	for n := x.Shape().Dimensions[0]; n > 1; n /= 2 {
		if n%2 == 1 {
			if last := part(n-1, n); odd == nil {
				odd = last
			} else {
				odd = combine(odd, last)
			}
		}
		x = combine(part(0, n/2), part(n/2, n/2*2))
	}
	if odd != nil {
		x = combine(x, odd)
	}
	return Squeeze(x, 0)
}

// assemble returns the sums of all rows of the level, from those of each bucket. sum computes the sums of a bucket of
// the next level from those of all chunks of this one.
func (l *level) assemble(parts []*Node, sum func(b bucket, chunks *Node) *Node) *Node {
	if l.next == nil {
		return concatenate(parts)
	}
	// Chunks are concatenated apart from short rows. A single concatenation would be read by the gather of the next
	// level and by a slice: XLA might compute the parts, gathers, twice, and would then store the gathered rows, nine
	// times slower.
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

// lowest is minus infinity in maxima, without NaN in differences.
const lowest = -1e30

// fold combines the values of each row's entries, v, [places, k], by a function such as Add or Max, to [rows, k], by
// length. Padding has the neutral value, and so do rows without entries.
func (s sums) fold(v *Node, combine func(a, b *Node) *Node, neutral float64) *Node {
	width := v.Shape().Dimensions[1]
	none := func(rows int) *Node { return BroadcastToDims(loop.Float(v, neutral), rows, width) }
	combined := func(b bucket, v *Node, from int) *Node {
		if b.terms == 0 {
			return none(b.rows)
		}
		b.from = from
		if s.gpu {
			return halved(b.block(v), combine)
		}
		all := b.term(v, 0)
		for k := 1; k < b.terms; k++ {
			all = combine(all, b.term(v, k))
		}
		return all
	}
	v = s.fence(v)
	var parts []*Node
	for _, b := range s.buckets {
		parts = append(parts, combined(b, v, b.from))
	}
	return s.fence(s.assemble(parts, func(b bucket, chunks *Node) *Node {
		chunks = s.fence(chunks)
		size := b.terms * b.rows
		each := Gather(chunks, Slice(s.array(chunk), AxisRange(b.from, b.from+size)))
		stored := Slice(s.array(chunkWeight), AxisRange(b.from, b.from+size))
		stored = BroadcastToShape(GreaterThan(stored, loop.Zeros(stored)), each.Shape())
		return combined(b, Where(stored, each, none(size)), 0)
	}))
}

// spread copies the values of rows by length, [rows, k], to their places.
func (s sums) spread(v *Node) *Node {
	width := v.Shape().Dimensions[1]
	return s.perBucket(v, func(b bucket, own *Node) *Node {
		return Reshape(BroadcastToDims(Reshape(own, 1, b.rows, width), b.terms, b.rows, width), b.terms*b.rows, width)
	})
}

// perBucket computes the values of places, bucket by bucket, from those of the bucket's rows or chunks, own, [1, rows,
// k].
func (s sums) perBucket(rows *Node, f func(b bucket, own *Node) *Node) *Node {
	rows = s.chunked(rows)
	var parts []*Node
	from := 0
	for _, b := range s.buckets {
		if b.terms > 0 {
			own := Slice(rows, AxisRange(from, from+b.rows))
			parts = append(parts, f(b, Reshape(own, 1, b.rows, rows.Shape().Dimensions[1])))
		}
		from += b.rows
	}
	return concatenate(parts)
}

// chunked copies rows by length to short rows, and then to the chunks of the first level.
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
