package filestest

import (
	"bytes"
	"os"
	"testing"
)

// In a file of up to wholly bytes, every byte is flipped; of a larger one, about so many as sampled says.
const (
	wholly  = 4 << 10
	sampled = 1 << 10
)

// flips calls f twice for each of the chosen bytes: to flip one bit, and to flip all eight.
func flips(size int, f func(at int, bits byte)) {
	step := 1
	if size > wholly {
		step = size/sampled | 1 // odd, since with an even step all flipped bytes would have even positions
	}
	for at := 0; at < size; at += step {
		f(at, 1<<(at/step%8))
		f(at, 0xff)
	}
}

// Flips changes bytes of a content, one at a time, and calls f with the byte's position and the changed content, which
// f must not keep.
func Flips(content []byte, f func(at int, flipped []byte)) {
	flipped := bytes.Clone(content)
	flips(len(content), func(at int, bits byte) {
		flipped[at] ^= bits
		f(at, flipped)
		flipped[at] = content[at]
	})
}

// FlipsOf changes bytes of a file, one at a time, and calls f with the byte's position before it restores the byte.
func FlipsOf(t *testing.T, path string, f func(at int)) {
	t.Helper()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
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
