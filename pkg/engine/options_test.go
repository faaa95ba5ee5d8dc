package engine

import (
	"bytes"
	"testing"

	"golang.org/x/sys/cpu"
)

func TestOption(t *testing.T) {
	// want is the protobuf message { 7: { 1: "ab", 2: { 3: 512 } } }, encoded by hand. The numbers before the colons
	// are the numbers of the message's fields.
	want := []byte{0x3a, 9, 0x0a, 2, 'a', 'b', 0x12, 3, 0x18, 0x80, 0x04}
	if got := option("ab", number(512)); !bytes.Equal(got, want) {
		t.Errorf("encoded as % x, want % x", got, want)
	}
}

func TestCompileOptions(t *testing.T) {
	if got := compileOptions("--xla_cpu_prefer_vector_width=256"); got != nil {
		t.Errorf("the user's choice is overridden by %q", got)
	}
	if got := compileOptions("--xla_dump_to=/nowhere"); (got != nil) != cpu.X86.HasAVX512F {
		t.Errorf("options are %q, the processor has AVX-512: %v", got, cpu.X86.HasAVX512F)
	}
}
