package engine

import (
	"encoding/binary"
	"strings"

	"golang.org/x/sys/cpu"
)

// compileOptions returns revgnn's option for XLA's CPU compiler, or nil if XLA_FLAGS (flags) has it already: with
// AVX-512, it shall use the whole width of the vector registers, 512 bits. By default it uses half, and sums over
// neighbours take 1.3 to 2.3 times as long (docs/notes/2026-11-compiler.md).
//
// The result is appended to go-xla's own options, a protobuf message: two messages, one after the other, count as one
// with the fields of both (protobuf.dev/programming-guides/encoding, "Last One Wins").
func compileOptions(flags string) []byte {
	const width = "xla_cpu_prefer_vector_width"
	if !cpu.X86.HasAVX512F || strings.Contains(flags, width) {
		return nil
	}
	return optionOverride(width, 512)
}

// optionOverride encodes an XLA flag and its value as a CompileOptionsProto (openxla/xla,
// xla/pjrt/proto/compile_options.proto), by the numbers of the fields
//
//	CompileOptionsProto { 7: entry { 1: name, 2: OptionOverrideProto { 3: value } } }
func optionOverride(name string, value uint64) []byte {
	const bytes, number = 2, 0 // protobuf's codes for two types of values
	field := func(id, wire uint64) []byte { return binary.AppendUvarint(nil, id<<3|wire) }
	message := func(id uint64, content []byte) []byte {
		return append(binary.AppendUvarint(field(id, bytes), uint64(len(content))), content...)
	}
	setting := binary.AppendUvarint(field(3, number), value)
	return message(7, append(message(1, []byte(name)), message(2, setting)...))
}
