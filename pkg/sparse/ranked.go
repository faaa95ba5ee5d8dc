package sparse

import (
	"math"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Ranked returns the values of the given ranks among the values v of all edges, [places, 1] in single precision and not
// negative; rank 0 is the smallest. It has no gradient. It does not sort, but bisects the bits, which as integers have
// the order of the numbers: 31 passes that count. That is exact, and several times faster than sorting.
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

// count is the number of true values in x, [n, 1]: eight parts are added up entry by entry, again and again, which XLA
// vectorises, unlike its own sum.
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
