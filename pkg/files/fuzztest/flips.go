package fuzztest

import (
	"bytes"
	"os"
	"testing"
)

// Files of at most 4 KiB (the constant wholly) have every byte flipped. In larger files, about a thousand bytes (the
// constant sampled) are flipped.
const (
	wholly  = 4 << 10
	sampled = 1 << 10
)

// flips calls f for bytes of a file of the given size: for every byte or, in a large file, for about a thousand bytes,
// which are the same in each call. It calls f twice for each byte, once to flip one bit and once to flip all eight. The
// argument at of f is the position of the byte. The argument bits of f has a 1 for each bit to flip.
func flips(size int, f func(at int, bits byte)) {
	step := 1
	if size > wholly {
		step = size/sampled | 1 // odd, so that all positions within blocks of 2^k bytes occur
	}
	for at := 0; at < size; at += step {
		f(at, 1<<(at/step%8))
		f(at, 0xff)
	}
}

// Flips changes one byte of a file's content after the other, and calls f with each changed content. The argument at of
// f is the position of the changed byte. f must not keep the slice.
func Flips(content []byte, f func(at int, flipped []byte)) {
	flipped := bytes.Clone(content)
	flips(len(content), func(at int, bits byte) {
		flipped[at] ^= bits
		f(at, flipped)
		flipped[at] = content[at]
	})
}

// FlipsOf changes one byte of the file at path after the other, calls f while the byte is changed, and restores the
// byte.
func FlipsOf(t *testing.T, path string, f func(at int)) {
	t.Helper()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// Only one byte of the file is overwritten: to write the whole file anew each time would be slower.
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	put := func(at int, b byte) {
		if _, err := file.WriteAt([]byte{b}, int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	flips(len(whole), func(at int, bits byte) {
		put(at, whole[at]^bits)
		f(at)
		put(at, whole[at])
	})
}
