package filestest

import (
	"bytes"
	"os"
	"testing"
)

// wholly is the largest size, in bytes, of a file in which every byte is flipped. sampled is roughly the number of
// bytes that are flipped in a larger file.
const (
	wholly  = 4 << 10
	sampled = 1 << 10
)

// flips chooses bytes of a file of the given size, and calls f for each of them. In a small file it chooses every byte,
// and in a large file about a thousand bytes. For each byte it calls f twice: first to flip one bit, and then to flip
// all eight bits. The argument at of f is the byte's position. The argument bits has a 1 for each bit to flip.
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

// Flips changes bytes of a file's content, one at a time. For each change it calls f with the position of the changed
// byte and with the changed content. The function f must not keep the changed content, since Flips changes it again.
func Flips(content []byte, f func(at int, flipped []byte)) {
	flipped := bytes.Clone(content)
	flips(len(content), func(at int, bits byte) {
		flipped[at] ^= bits
		f(at, flipped)
		flipped[at] = content[at]
	})
}

// FlipsOf changes bytes of the file at path, one at a time. After each change it calls f with the position of the
// changed byte, and then restores the byte.
func FlipsOf(t *testing.T, path string, f func(at int)) {
	t.Helper()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// Each change overwrites only one byte of the file. Writing the whole file for each change would be slower.
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
