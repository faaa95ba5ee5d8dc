package fuzztest

import "bytes"

// wholly is the size of files of which every byte is flipped, and sampled the number of bytes of larger ones.
const (
	wholly  = 4 << 10
	sampled = 1 << 10
)

// Flips calls f with what a file holds, with one byte changed: in each byte, or in some thousand of a large file that
// are always the same ones, one bit, and all of them. f must not keep the slice.
func Flips(content []byte, f func(at int, flipped []byte)) {
	step := 1
	if len(content) > wholly {
		step = len(content)/sampled | 1 // odd: no layout in powers of two escapes
	}
	flipped := bytes.Clone(content)
	for at := 0; at < len(content); at += step {
		for _, bits := range []byte{1 << (at / step % 8), 0xff} {
			flipped[at] ^= bits
			f(at, flipped)
			flipped[at] = content[at]
		}
	}
}
