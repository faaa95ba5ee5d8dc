package fuzztest

import (
	"bytes"
	"os"
	"testing"
)

// In files of at most wholly bytes every byte is flipped; in larger files, a sample of sampled bytes.
const (
	wholly  = 4 << 10
	sampled = 1 << 10
)

// flips calls f for bytes of a file of the given size: for every byte or, in a large file, for some thousand, always
// the same. f gets the byte's place at and the bits to flip. It is called twice for each byte: for one bit, and for
// all eight.
func flips(size int, f func(at int, bits byte)) {
	step := 1
	if size > wholly {
		step = size/sampled | 1 // odd: no layout in powers of two escapes
	}
	for at := 0; at < size; at += step {
		f(at, 1<<(at/step%8))
		f(at, 0xff)
	}
}

// Flips calls f with what a file holds, with one byte changed at a time. f must not keep the slice.
func Flips(content []byte, f func(at int, flipped []byte)) {
	flipped := bytes.Clone(content)
	flips(len(content), func(at int, bits byte) {
		flipped[at] ^= bits
		f(at, flipped)
		flipped[at] = content[at]
	})
}

// FlipsOf changes single bytes of the file at path, one after the other, and calls f while a byte is changed.
func FlipsOf(t *testing.T, path string, f func(at int)) {
	t.Helper()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// The byte is overwritten in the file, since writing a whole file anew waits for the disk.
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
