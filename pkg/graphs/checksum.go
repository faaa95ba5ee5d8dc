package graphs

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"math"
)

// Checksum is the SHA-256 hash, in hexadecimal, of all data of the graph that training depends on. These are the number
// of nodes, the edges, features, labels and splits, and the directions of the edges if there are any. The name of the
// graph is not hashed. Training on graphs with equal checksums gives equal results. All values are hashed as 32-bit
// little-endian numbers. So the checksum is the same on all machines, and for all formats of the file that the graph
// was read from. The length of each array is hashed before its values, so that the end of each array is part of the
// checksum, too.
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
	// The number of arcs is hashed for directed graphs only. For undirected graphs it would be 0, but the checksums of
	// undirected graphs in recorded runs were computed without this 0.
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

// words passes 32-bit values to a hash in blocks of 4 KiB, since hashing four bytes at a time takes several times as
// long.
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

// masks writes the number of nodes, and then a number for each node. This number is 1 if the node is for training, 2
// for validation, 4 for test, and 0 otherwise.
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
