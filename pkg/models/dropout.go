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

// DropoutOf is [Builder.Dropout] with the given probability, for models that have several probabilities.
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

// seeds draws an array of seeds. The shape of the array is dims, followed by 2.
func (b *Builder) seeds(dims ...int) *Node {
	u := b.Scope.RandomUniform(b.Graph, shapes.Make(dtypes.Float32, append(dims, 2)...))
	return ConvertDType(MulScalar(u, 1<<24), dtypes.Uint32)
}

// kept is the random choice of dropout: it tells for every entry of an array whether the entry stays, with probability
// 1 - p. number, of type uint32, holds a different number for each entry. kept can be used in the bodies of GoMLX's
// loops.
//
// kept mixes each entry's number with the seed into a 32-bit number that looks random, the hash h. The entry stays if
// its hash is less than (1-p) 2^32. A hash is cheap, since XLA computes it inside the operation that reads the choice.
// A sequence of random numbers would take 15 ns per entry on the CPU, and would stay in memory until the backward pass.
// The hash is computed in two rounds, one for each of the seed's two numbers. A round combines h with one number of the
// seed by exclusive or. It then applies a one-to-one function of 32-bit numbers, which mixes all bits of its argument.
// This function is the last part of MurmurHash3 (Appleby 2011) with other constants (Wellons 2018).
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
