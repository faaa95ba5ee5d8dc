package fuzztest

import (
	"bytes"
	"os"
	"testing"
)

// wholly is the size of files of which every byte is flipped, and sampled the number of bytes of larger ones.
const (
	wholly  = 4 << 10
	sampled = 1 << 10
)

// flips calls f with places in a file of so many bytes, and what to change there: in each byte, or in some thousand of
// a large file that are always the same ones, one bit, and all of them.
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

// FlipsOf calls f while one byte of a file is changed, one at a time.
func FlipsOf(t *testing.T, path string, f func(at int)) {
	t.Helper()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// In its place: writing the file anew waits for the disk.
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
