package fuzztest

import (
	"bytes"
	"os"
	"testing"
)

// In files of at most wholly bytes, every byte is flipped. In larger files, about sampled bytes are flipped.
const (
	wholly  = 4 << 10
	sampled = 1 << 10
)

// flips calls f for bytes of a file of the given size: for every byte or, in a large file, for about a thousand, which
// are always the same. It calls f twice for each byte, once to flip one bit and once to flip all eight. at is the
// position of the byte, and the bits to flip are set in bits.
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

// Flips calls f with the content of a file in which one byte has changed, for one byte after the other. at is the
// byte's position. f must not keep the slice.
func Flips(content []byte, f func(at int, flipped []byte)) {
	flipped := bytes.Clone(content)
	flips(len(content), func(at int, bits byte) {
		flipped[at] ^= bits
		f(at, flipped)
		flipped[at] = content[at]
	})
}

// FlipsOf changes one byte of the file at path after the other, and calls f while the byte is changed.
func FlipsOf(t *testing.T, path string, f func(at int)) {
	t.Helper()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// Only the byte is overwritten, which is faster: writing the whole file anew would wait for the disk.
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
