package models

import (
	"math"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Dropout sets each entry of x to 0 with the probability p of the setting "dropout", and divides all other entries by
// 1 - p. It does so in training only.
func (b *Builder) Dropout(x *Node) *Node { return b.DropoutOf(x, b.Config.Dropout) }

// DropoutOf is [Builder.Dropout] with the given probability p. It is for models that have several probabilities of
// dropout.
func (b *Builder) DropoutOf(x *Node, p float64) *Node {
	if p == 0 || !b.Random() {
		return x
	}
	dims := x.Shape().Dimensions
	entry := Reshape(Iota(b.Graph, shapes.Make(dtypes.Uint32, x.Shape().Size()), 0), dims...)
	return Where(kept(entry, b.seed(), p), DivScalar(x, 1-p), ZerosLike(x))
}

// Random tells whether this computation draws random numbers, such as those of dropout. Training draws random numbers
// unless [Model.Still] is set. Evaluation draws none.
func (b *Builder) Random() bool {
	if b.layer != nil {
		return b.layer.random
	}
	return !b.Still && b.Scope.IsTraining(b.Graph)
}

// seed draws a seed for one call of [kept]. A seed is an array of two whole numbers of 24 bits each.
func (b *Builder) seed() *Node {
	if b.layer != nil {
		return b.layer.seed(b.Graph)
	}
	return b.seeds()
}

// seeds draws an array of seeds for [kept]. A seed consists of two numbers. Therefore the shape of the array is dims,
// followed by 2.
func (b *Builder) seeds(dims ...int) *Node {
	u := b.Scope.RandomUniform(b.Graph, shapes.Make(dtypes.Float32, append(dims, 2)...))
	return ConvertDType(MulScalar(u, 1<<24), dtypes.Uint32)
}

// kept makes the random choices of dropout: for every entry of an array, it tells whether the entry stays. An entry
// stays with probability 1 - p. The argument number, of type uint32, holds a different number for each entry. The
// argument seed holds two numbers. kept can be used in the bodies of GoMLX's loops.
//
// kept computes a hash for each entry: a 32-bit number h that looks random, but depends only on the entry's number and
// on the seed. The entry stays if h is less than (1-p) 2^32. Hashes take little time and no memory, since XLA computes
// each hash where it is used. Numbers from a random number generator would take 15 ns per entry on the CPU, and would
// stay in memory until the backward pass.
//
// At first, h is the entry's number. Two rounds then change h, one for each number of the seed. A round first combines
// h with the number of the seed by exclusive or. Then it applies a one-to-one function of 32-bit numbers, which mixes
// the bits of h. This function is the last part of MurmurHash3 (Appleby 2011) with other constants (Wellons 2018).
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
