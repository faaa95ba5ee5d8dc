package graphs

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
)

// Checksum is the SHA-256, in hexadecimal, of all that training depends on: nodes, edges, features, labels, splits and
// directions, but not names, as little-endian 32-bit values. Equal checksums give equal results.
func (g *Graph) Checksum() string {
	h := sha256.New()
	w := bufio.NewWriter(h) // four bytes at a time take several times as long
	put := func(v uint32) { w.Write(binary.LittleEndian.AppendUint32(w.AvailableBuffer(), v)) }
	for _, n := range []int{g.NumNodes, g.NumFeatures, g.NumClasses, len(g.Edges)} {
		put(uint32(n))
	}
	for _, e := range g.Edges {
		put(uint32(e[0]))
		put(uint32(e[1]))
	}
	put(uint32(len(g.Features)))
	for _, v := range g.Features {
		put(math.Float32bits(v))
	}
	put(uint32(len(g.Labels)))
	for _, l := range g.Labels {
		put(uint32(l))
	}
	put(uint32(len(g.Splits)))
	for _, s := range g.Splits {
		// Masks are 1 for training, 2 for validation, 4 for test, else 0, after the number of nodes.
		put(uint32(len(s.Train)))
		for i := range s.Train {
			var in uint32
			for bit, mask := range [][]bool{s.Train, s.Val, s.Test} {
				if mask[i] {
					in |= 1 << bit
				}
			}
			put(in)
		}
	}
	// Undirected graphs have no number of arcs, since checksums in recorded runs have none.
	if g.Directed() {
		put(uint32(len(g.Arcs)))
	}
	for _, a := range g.Arcs {
		put(uint32(a[0]))
		put(uint32(a[1]))
	}
	w.Flush()
	return hex.EncodeToString(h.Sum(nil))
}
