package models

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// bits are 32 random bits for each entry of x: its number and a key, which is drawn anew in every step, mixed by the
// finaliser of MurmurHash3 (Appleby 2011), twice, with half of the key each time.
//
// The engine's own generator, Philox, writes numbers to memory, at 16 ns of a CPU each, two thirds of a step of GPR-GNN
// on Minesweeper. These depend on the place and the key alone: XLA computes them within whatever reads them, at about 1
// ns each, and anew on the way back.
func (b *Builder) bits(x *Node) *Node {
	key := b.Scope.RandomUniform(b.Graph, shapes.Make(dtypes.Float32, 2))
	key = ConvertDType(MulScalar(key, 1<<24), dtypes.Uint32)
	place := Reshape(Iota(b.Graph, shapes.Make(dtypes.Uint32, x.Shape().Size()), 0), x.Shape().Dimensions...)
	for i := range 2 {
		place = mixed(Add(place, Reshape(Slice(key, AxisElem(i)))))
	}
	return place
}

// mixed is a permutation of the 32-bit numbers in which every bit of the result depends on all bits.
func mixed(h *Node) *Node {
	for _, step := range [][2]uint32{{16, 0x85ebca6b}, {13, 0xc2b2ae35}} {
		h = MulScalar(BitwiseXor(h, BitwiseShiftRightLogicalScalar(h, step[0])), step[1])
	}
	return BitwiseXor(h, BitwiseShiftRightLogicalScalar(h, 16))
}
