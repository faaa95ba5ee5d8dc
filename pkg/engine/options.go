package engine

import (
	"encoding/binary"
	"strings"

	"golang.org/x/sys/cpu"
)

// compileOptions are revgnn's options for XLA's CPU compiler, as an encoded protobuf message. They are appended to the
// encoded options that go-xla passes with a graph: two protobuf messages that are joined in this way count as one
// merged message (protobuf.dev/programming-guides/encoding, "Last One Wins"). The argument is the value of the
// environment variable XLA_FLAGS. Options that the user has set in this variable are not changed.
//
// There is one option, for processors with AVX-512. It tells the compiler to use the whole width of the vector
// registers, 512 bits. By default the compiler uses half of this width, and then sums over neighbours take 1.3 to 2.3
// times as long (docs/notes/2026-11-compiler.md).
func compileOptions(flags string) []byte {
	const width = "xla_cpu_prefer_vector_width"
	if !cpu.X86.HasAVX512F || strings.Contains(flags, width) {
		return nil
	}
	return optionOverride(width, 512)
}

// optionOverride encodes one option for XLA's compiler as a protobuf message: the name of an XLA flag, and its value.
// The message is an entry of the field env_option_overrides of the message CompileOptionsProto (openxla/xla,
// xla/pjrt/proto/compile_options.proto):
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
