package models

import (
	"math"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Dropout acts in training: it sets entries of x to 0 with the configuration's probability p, and divides all others by
// 1 - p.
func (b *Builder) Dropout(x *Node) *Node { return b.DropoutOf(x, b.Config.Dropout) }

// DropoutOf is [Builder.Dropout] with a probability of its own, for models that have several.
func (b *Builder) DropoutOf(x *Node, p float64) *Node {
	if p == 0 || !b.Random() {
		return x
	}
	dims := x.Shape().Dimensions
	entry := Reshape(Iota(b.Graph, shapes.Make(dtypes.Uint32, x.Shape().Size()), 0), dims...)
	return Where(kept(entry, b.seed(), p), DivScalar(x, 1-p), ZerosLike(x))
}

// Random tells whether random draws, such as those of dropout, are to be made. They are made in training, unless
// [Model.Still] is set.
func (b *Builder) Random() bool {
	if b.layer != nil {
		return b.layer.random
	}
	return !b.Still && b.Scope.IsTraining(b.Graph)
}

// seed draws the seed for one call of [kept], [2].
func (b *Builder) seed() *Node {
	if b.layer != nil {
		return b.layer.seed(b.Graph)
	}
	return b.seeds()
}

// seeds draws an array of seeds, [dims, 2]. A seed is two whole numbers of 24 bits each.
func (b *Builder) seeds(dims ...int) *Node {
	u := b.Scope.RandomUniform(b.Graph, shapes.Make(dtypes.Float32, append(dims, 2)...))
	return ConvertDType(MulScalar(u, 1<<24), dtypes.Uint32)
}

// kept tells for every entry, given its number (uint32), whether dropout with probability p keeps it. It can be used
// inside loop bodies.
//
// To decide, kept compares a hash of the entry's number and the seed with a limit that depends on p. XLA CPU fuses a
// hash into the operation that reads it. A sequence of random numbers would take 15 ns per entry, and memory for the
// backward pass. The two halves of the seed are mixed into the hash, one after the other. After each, a bijection of
// the 32-bit numbers spreads every bit of its argument over all bits of the result. The bijection is the finaliser of
// MurmurHash3 (Appleby 2011) with other constants (Wellons 2018).
func kept(number, seed *Node, p float64) *Node {
	constant := func(v uint32) *Node { return loop.Like(loop.Const(number.Graph(), v), number) }
	fold := func(h *Node, by uint32) *Node { return BitwiseXor(h, BitwiseShiftRightLogical(h, constant(by))) }
	h := number
	for half := range 2 {
		h = BitwiseXor(h, loop.Like(Reshape(Slice(seed, AxisElem(half))), number))
		h = Mul(fold(h, 16), constant(0x7feb352d))
		h = Mul(fold(h, 15), constant(0x846ca68b))
		h = fold(h, 16)
	}
	return LessThan(h, constant(uint32(min((1-p)*(1<<32), math.MaxUint32))))
}
