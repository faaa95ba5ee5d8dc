package sparse

import (
	"math"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Ranked returns the values that have the given ranks among the values v of all edges. Rank 0 is the smallest value.
// For example, the quartiles of m edges have the ranks m/4, m/2 and 3m/4. v is [places, 1] in single precision, and
// must not be negative. The result is a vector with one value for each rank, and has no gradient.
//
// Ranked does not sort, but searches by bisection. The bits of a floating-point number can be read as an integer. For
// numbers that are not negative, these integers have the same order as the numbers. For each rank, Ranked starts with
// the range of all these integers, and halves it 31 times. Each time, a pass over the edges counts the integers up to
// the middle of the range. This count says which half has the value with the rank. The result is exact, and the search
// is several times faster than sorting.
func (e Edges) Ranked(v *Node, ranks ...int) *Node {
	e.bare.checkPlaces("Ranked", v)
	bits := Bitcast(e.bare.forward().masked(StopGradient(v), math.Inf(1)), dtypes.Int32)
	g, k := v.Graph(), len(ranks)
	need := make([]int32, k)
	for i, r := range ranks {
		need[i] = int32(r)
	}
	// The nodes low and high have a number for each rank. Before and after each pass of the loop, the following holds
	// for each rank: the bits of the value with this rank, read as an integer, are greater than low and at most high.
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

// count is the number of true values in x, [n, 1], as an array of shape [1]. It reads true as 1 and false as 0, and
// computes the sum. It cuts the array into eight parts of equal length, and adds up the parts entry by entry. The
// result is an array of an eighth of the length. count repeats this until the array is short. On CPUs, XLA vectorises
// these additions, whereas XLA's own operation for the sum of an array adds the numbers one by one.
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
