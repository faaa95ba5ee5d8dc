package graphs

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"math"
)

// Checksum is the SHA-256, in hexadecimal, of all that training depends on: nodes, edges, features, labels, splits and
// directions, but not names, as little-endian 32-bit values. Equal checksums give equal results.
func (g *Graph) Checksum() string {
	h := sha256.New()
	w := words{to: h}
	for _, n := range []int{g.NumNodes, g.NumFeatures, g.NumClasses, len(g.Edges)} {
		w.put(uint32(n))
	}
	for _, e := range g.Edges {
		w.put(uint32(e[0]))
		w.put(uint32(e[1]))
	}
	w.put(uint32(len(g.Features)))
	for _, v := range g.Features {
		w.put(math.Float32bits(v))
	}
	w.put(uint32(len(g.Labels)))
	for _, l := range g.Labels {
		w.put(uint32(l))
	}
	w.put(uint32(len(g.Splits)))
	for _, s := range g.Splits {
		w.masks(s)
	}
	// Undirected graphs have no number of arcs, since checksums in recorded runs have none.
	if g.Directed() {
		w.put(uint32(len(g.Arcs)))
	}
	for _, a := range g.Arcs {
		w.put(uint32(a[0]))
		w.put(uint32(a[1]))
	}
	w.flush()
	return hex.EncodeToString(h.Sum(nil))
}

// words passes values to a hash in blocks of 4 KiB; four bytes at a time take several times as long.
type words struct {
	to   io.Writer
	buf  [1 << 12]byte
	used int
}

func (w *words) put(v uint32) {
	if w.used == len(w.buf) {
		w.flush()
	}
	binary.LittleEndian.PutUint32(w.buf[w.used:], v)
	w.used += 4
}

func (w *words) flush() {
	w.to.Write(w.buf[:w.used])
	w.used = 0
}

// masks are 1 for training, 2 for validation, 4 for test, else 0, after the number of nodes.
func (w *words) masks(s Split) {
	w.put(uint32(len(s.Train)))
	for i := range s.Train {
		var in uint32
		for bit, mask := range [][]bool{s.Train, s.Val, s.Test} {
			if mask[i] {
				in |= 1 << bit
			}
		}
		w.put(in)
	}
}
