package models

import (
	"math"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// Dropout is that of PyTorch, in training only, with the probability that the setting "dropout" gives.
func (b *Builder) Dropout(x *Node) *Node { return b.DropoutOf(x, b.Config.Dropout) }

func (b *Builder) DropoutOf(x *Node, p float64) *Node {
	if p == 0 || !b.Random() {
		return x
	}
	dims := x.Shape().Dimensions
	entry := Reshape(Iota(b.Graph, shapes.Make(dtypes.Uint32, x.Shape().Size()), 0), dims...)
	return Where(kept(entry, b.seed(), p), DivScalar(x, 1-p), ZerosLike(x))
}

// Random tells whether this computation draws random numbers: in training, unless [Model.Deterministic] is set.
func (b *Builder) Random() bool {
	if b.layer != nil {
		return b.layer.random
	}
	return !b.Deterministic && b.Scope.IsTraining(b.Graph)
}

// seed draws a seed for one call of [kept]: two whole numbers of 24 bits.
func (b *Builder) seed() *Node {
	if b.layer != nil {
		return b.layer.seed(b.Graph)
	}
	return b.seeds()
}

// seeds draws seeds, [dims…, 2].
func (b *Builder) seeds(dims ...int) *Node {
	u := b.Scope.RandomUniform(b.Graph, shapes.Make(dtypes.Float32, append(dims, 2)...))
	return ConvertDType(MulScalar(u, 1<<24), dtypes.Uint32)
}

// kept tells, for each entry, whether it stays in dropout: with probability 1 - p. number, of type uint32, numbers the
// entries. kept works in loop bodies.
//
// The entry stays if a hash of its number and the seed is below (1-p) 2^32. Hashes take little time and no memory,
// since XLA computes them where they are used; a random number generator takes 15 ns per entry, and its numbers stay in
// memory until the backward pass. Two rounds combine h with a number of the seed by exclusive or, and mix its bits by
// the last part of MurmurHash3 (Appleby 2011) with other constants (Wellons 2018).
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
