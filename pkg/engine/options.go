package engine

import (
	"encoding/binary"
	"strings"

	"golang.org/x/sys/cpu"
)

// compileOptions are revgnn's options for XLA's CPU compiler, as an encoded protobuf message. Its bytes are to be
// appended to the options that are passed with a program: a protobuf message that is appended to another is merged with
// it (protobuf.dev/programming-guides/encoding, "Last One Wins"). flags are the user's XLA_FLAGS, which take
// precedence.
//
// On processors with AVX-512, the compiler is told to use the whole vector registers of 512 bits. By default it uses
// half of each, with which sums over neighbours take 1.4 to 1.8 times as long (docs/notes/2026-11-compiler.md).
func compileOptions(flags string) []byte {
	const width = "xla_cpu_prefer_vector_width"
	if !cpu.X86.HasAVX512F || strings.Contains(flags, width) {
		return nil
	}
	return optionOverride(width, 512)
}

// optionOverride encodes an entry of CompileOptionsProto.env_option_overrides (openxla/xla,
// xla/pjrt/proto/compile_options.proto), a map from the name of an XLA flag to its value:
//
//	CompileOptionsProto { 7: entry { 1: name, 2: OptionOverrideProto { 3: value } } }
func optionOverride(name string, value uint64) []byte {
	const bytes, number = 2, 0 // protobuf's numbers for the kinds of values
	field := func(id, wire uint64) []byte { return binary.AppendUvarint(nil, id<<3|wire) }
	message := func(id uint64, content []byte) []byte {
		return append(binary.AppendUvarint(field(id, bytes), uint64(len(content))), content...)
	}
	setting := binary.AppendUvarint(field(3, number), value)
	return message(7, append(message(1, []byte(name)), message(2, setting)...))
}
